// The same as gradient.c, as a C++ program would write it.
//
//     c++ -std=c++17 gradient.cpp sequence.o libjut_runtime.a -lpthread -o gradient
#include "sequence.h"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Free {
  void operator()(jut_workspace *workspace) const { jut_workspace_free(workspace); }
};
using Workspace = std::unique_ptr<jut_workspace, Free>;

// An error becomes an exception.
void check(int status, const jut_error &error) {
  if (status == JUT_OK) return;
  std::string text = "status " + std::to_string(status) + ": " + error.message + " (";
  for (int k = 0; k < error.count; k++)
    text += (k ? ", " : "") + std::to_string(error.numbers[k]);
  throw std::runtime_error(text + ")");
}

struct Point {
  std::vector<double> table;
  double decay;
};

// The loss of a sequence of words.
class Loss {
 public:
  Loss(std::vector<int64_t> words, std::vector<double> target)
      : words_(std::move(words)), target_(std::move(target)), workspace_(jut_workspace_new()) {}

  double gradient(const Point &at, Point &gradient) {
    double value;
    jut_error error;
    gradient.table.resize(at.table.size());
    check(loss_value_grad(rows(at), columns(), count(), at.table.data(), at.decay, words_.data(),
                          target_.data(), &value, gradient.table.data(), &gradient.decay,
                          workspace_.get(), &error),
          error);
    return value;
  }

  void hessian_product(const Point &at, const Point &direction, Point &product) {
    jut_error error;
    product.table.resize(at.table.size());
    check(loss_hvp(rows(at), columns(), count(), at.table.data(), at.decay, words_.data(),
                   target_.data(), direction.table.data(), direction.decay, product.table.data(),
                   &product.decay, workspace_.get(), &error),
          error);
  }

 private:
  int64_t columns() const { return static_cast<int64_t>(target_.size()); }
  int64_t rows(const Point &at) const { return static_cast<int64_t>(at.table.size()) / columns(); }
  int64_t count() const { return static_cast<int64_t>(words_.size()); }

  std::vector<int64_t> words_;
  std::vector<double> target_;
  Workspace workspace_;
};

void print_bits(const char *name, const std::vector<double> &x) {
  std::printf("%s", name);
  for (double number : x) {
    std::uint64_t bits;
    std::memcpy(&bits, &number, sizeof bits);
    std::printf(" %016llx", static_cast<unsigned long long>(bits));
  }
  std::printf("\n");
}

}  // namespace

int main() {
  Point at{std::vector<double>(5 * 3), 0.5}, direction{std::vector<double>(5 * 3), 0.5};
  std::vector<double> target(3);
  for (int i = 0; i < 15; i++) at.table[i] = (i * 7 % 11) / 8.0 - 0.5;
  for (int i = 0; i < 15; i++) direction.table[i] = (i % 4) - 1.5;
  for (int i = 0; i < 3; i++) target[i] = 0.25 * i;

  const double decays[] = {0.5, 0.875};
  double values[2];
  Point gradients[2], products[2];
  std::vector<std::thread> threads;
  for (int k = 0; k < 2; k++)
    threads.emplace_back([&, k] {
      Loss loss({0, 3, 1, 4, 3, 2}, target);
      const Point here{at.table, decays[k]};
      for (int call = 0; call < 1000; call++) {
        values[k] = loss.gradient(here, gradients[k]);
        loss.hessian_product(here, direction, products[k]);
      }
    });
  for (auto &thread : threads) thread.join();
  for (int k = 0; k < 2; k++) {
    print_bits("value", {values[k]});
    print_bits("table", gradients[k].table);
    print_bits("decay", {gradients[k].decay});
    print_bits("hvp table", products[k].table);
    print_bits("hvp decay", {products[k].decay});
  }
  try {
    Loss({7}, target).gradient(at, gradients[0]);
  } catch (const std::runtime_error &error) {
    std::printf("%s\n", error.what());
  }
}
