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

struct Gradient {
  double value = 0, decay = 0;
  std::vector<double> table;
};

// Value and gradient; an error becomes an exception.
Gradient gradient(jut_workspace *workspace, const std::vector<double> &table, double decay,
                  const std::vector<int64_t> &words, const std::vector<double> &target) {
  const auto n = static_cast<int64_t>(target.size());
  const auto v = static_cast<int64_t>(table.size()) / n;
  Gradient result;
  result.table.resize(table.size());
  jut_error error;
  const int status = loss_value_grad(v, n, static_cast<int64_t>(words.size()), table.data(), decay,
                                     words.data(), target.data(), &result.value,
                                     result.table.data(), &result.decay, workspace, &error);
  if (status != JUT_OK) {
    std::string text = "status " + std::to_string(status) + ": " + error.message + " (";
    for (int k = 0; k < error.count; k++)
      text += (k ? ", " : "") + std::to_string(error.numbers[k]);
    throw std::runtime_error(text + ")");
  }
  return result;
}

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
  std::vector<double> table(5 * 3), target(3);
  for (int i = 0; i < 15; i++) table[i] = (i * 7 % 11) / 8.0 - 0.5;
  for (int i = 0; i < 3; i++) target[i] = 0.25 * i;
  const std::vector<int64_t> words = {0, 3, 1, 4, 3, 2};

  const double decays[] = {0.5, 0.875};
  Gradient results[2];
  std::vector<std::thread> threads;
  for (int k = 0; k < 2; k++)
    threads.emplace_back([&, k] {
      Workspace workspace(jut_workspace_new());
      for (int call = 0; call < 1000; call++)
        results[k] = gradient(workspace.get(), table, decays[k], words, target);
    });
  for (auto &thread : threads) thread.join();
  for (const auto &result : results) {
    print_bits("value", {result.value});
    print_bits("table", result.table);
    print_bits("decay", {result.decay});
  }
  try {
    Workspace workspace(jut_workspace_new());
    gradient(workspace.get(), table, 0.5, {7}, target);
  } catch (const std::runtime_error &error) {
    std::printf("%s\n", error.what());
  }
}
