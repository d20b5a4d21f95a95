/* Calls a gradient and a product with the Hessian that were compiled ahead of time, from two threads
 * at once, each with memory of its own that is asked for once.
 *
 *     jut build sequence.jut loss --wrt table,decay --derivative value_grad,hvp -o sequence.o \
 *         --runtime libjut_runtime.a
 *     cc gradient.c sequence.o libjut_runtime.a -lpthread -o gradient && ./gradient
 */
#include "sequence.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { V = 5, N = 3, K = 6 };

static const int64_t words[K] = {0, 3, 1, 4, 3, 2};

/* What one thread works with. */
struct task {
  double decay;
  double value;
  double grad_table[V * N];
  double grad_decay;
  double hvp_table[V * N];
  double hvp_decay;
  int status;
};

static size_t larger(size_t a, size_t b) { return a < b ? b : a; }

static void *run(void *argument) {
  struct task *task = argument;
  double table[V * N], target[N], tangent[V * N];
  for (int i = 0; i < V * N; i++) table[i] = (i * 7 % 11) / 8.0 - 0.5;
  for (int i = 0; i < N; i++) target[i] = 0.25 * i;
  for (int i = 0; i < V * N; i++) tangent[i] = (i % 4) - 1.5;

  /* One piece of memory, enough for both functions with these sizes: no call allocates. */
  size_t bytes = larger(loss_value_grad_workspace_size(V, N, K), loss_hvp_workspace_size(V, N, K));
  void *memory = malloc(bytes);
  jut_workspace *workspace = jut_workspace_in(memory, bytes);
  task->status = workspace ? JUT_OK : JUT_ERROR_MEMORY;
  for (int call = 0; call < 1000 && task->status == JUT_OK; call++) {
    task->status = loss_value_grad(V, N, K, table, task->decay, words, target, &task->value,
                                   task->grad_table, &task->grad_decay, workspace, NULL);
    if (task->status == JUT_OK)
      task->status = loss_hvp(V, N, K, table, task->decay, words, target, tangent, 0.5,
                              task->hvp_table, &task->hvp_decay, workspace, NULL);
  }
  free(memory);
  return NULL;
}

static void print_bits(const char *name, const double *x, int n) {
  printf("%s", name);
  for (int i = 0; i < n; i++) {
    uint64_t bits;
    memcpy(&bits, &x[i], sizeof bits);
    printf(" %016llx", (unsigned long long)bits);
  }
  printf("\n");
}

int main(void) {
  struct task tasks[2];
  pthread_t threads[2];
  memset(tasks, 0, sizeof tasks);
  tasks[0].decay = 0.5;
  tasks[1].decay = 0.875;
  for (int k = 0; k < 2; k++)
    if (pthread_create(&threads[k], NULL, run, &tasks[k])) return EXIT_FAILURE;
  for (int k = 0; k < 2; k++) {
    pthread_join(threads[k], NULL);
    if (tasks[k].status != JUT_OK) {
      fprintf(stderr, "%s\n", jut_status_message(tasks[k].status));
      return EXIT_FAILURE;
    }
    print_bits("value", &tasks[k].value, 1);
    print_bits("table", tasks[k].grad_table, V * N);
    print_bits("decay", &tasks[k].grad_decay, 1);
    print_bits("hvp table", tasks[k].hvp_table, V * N);
    print_bits("hvp decay", &tasks[k].hvp_decay, 1);
  }

  /* A word that the table does not have; a workspace that grows as needed. */
  const int64_t wrong[1] = {V + 2};
  double table[V * N] = {0}, target[N] = {0}, value = 0, grad_decay = 0;
  jut_error error;
  jut_workspace *workspace = jut_workspace_new();
  int status = loss_value_grad(V, N, 1, table, 0.5, wrong, target, &value, tasks[0].grad_table,
                               &grad_decay, workspace, &error);
  jut_workspace_free(workspace);
  if (status != error.status) return EXIT_FAILURE;
  printf("status %d: %s (", status, error.message);
  for (int k = 0; k < error.count; k++)
    printf("%s%lld", k ? ", " : "", (long long)error.numbers[k]);
  printf(")\n");
  return EXIT_SUCCESS;
}
