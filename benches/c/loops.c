/* The loops of `jut_benches::loops`, as one would write them in C.
 *
 * Sums are in jut's order: eight lanes, blocks of 1024, so that both compute the same bits and no
 * option that lets the compiler reorder floats is needed. `plain` is the usual loop, whose order
 * leaves the compiler nothing to do at once. */

#include <math.h>
#include <stdint.h>

#define LANES(expression)                                                                         \
  double total = 0.0;                                                                             \
  for (int64_t b = 0; b < n; b += 1024) {                                                         \
    double lane[8] = {0};                                                                         \
    int64_t e = b + 1024 < n ? b + 1024 : n, i = b;                                               \
    for (; i + 8 <= e; i += 8)                                                                    \
      for (int k = 0; k < 8; k++) { int64_t j = i + k; lane[k] += (expression); }                 \
    for (int k = 0; i < e; i++, k++) { int64_t j = i; lane[k] += (expression); }                  \
    for (int k = 0; k < 4; k++) lane[k] += lane[k + 4];                                           \
    for (int k = 0; k < 2; k++) lane[k] += lane[k + 2];                                           \
    total += lane[0] + lane[1];                                                                   \
  }                                                                                               \
  return total;

void scale_add(int64_t n, const double *restrict x, const double *restrict y, double *restrict z) {
  for (int64_t i = 0; i < n; i++) z[i] = 2.5 * x[i] + y[i];
}

void polynomial(int64_t n, const double *restrict x, const double *restrict y, double *restrict z) {
  (void)y;
  for (int64_t i = 0; i < n; i++) z[i] = ((x[i] * 0.1 + 0.2) * x[i] + 0.3) * x[i] + 0.4;
}

void three_points(int64_t n, const double *restrict x, const double *restrict y, double *restrict z) {
  (void)y;
  for (int64_t i = 0; i < n - 2; i++) z[i] = 0.25 * x[i] + 0.5 * x[i + 1] + 0.25 * x[i + 2];
}

void choose(int64_t n, const double *restrict x, const double *restrict y, double *restrict z) {
  for (int64_t i = 0; i < n; i++) z[i] = x[i] > y[i] ? x[i] - y[i] : x[i] * y[i];
}

void exp_map(int64_t n, const double *restrict x, const double *restrict y, double *restrict z) {
  (void)y;
  for (int64_t i = 0; i < n; i++) z[i] = exp(x[i]) + 1.0;
}

double dot(int64_t n, const double *restrict x, const double *restrict y) { LANES(x[j] * y[j]) }

double distance(int64_t n, const double *restrict x, const double *restrict y) {
  LANES((x[j] - y[j]) * (x[j] - y[j]))
}

double rosenbrock(int64_t m, const double *restrict x, const double *restrict y) {
  (void)y;
  int64_t n = m - 1;
  LANES(100.0 * ((x[j + 1] - x[j] * x[j]) * (x[j + 1] - x[j] * x[j])) + (1.0 - x[j]) * (1.0 - x[j]))
}

double plain(int64_t n, const double *restrict x, const double *restrict y) {
  double total = 0.0;
  for (int64_t i = 0; i < n; i++) total += x[i] * y[i];
  return total;
}
