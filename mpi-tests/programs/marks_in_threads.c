/* Eight threads make the calls of tmio.h for the first time at once, without MPI and without a tracer:
 * built with -fsanitize=thread, which tells whether they race. */
#include <pthread.h>
#include <tmio.h>

static void *thread(void *nothing) {
    iotrace_mark("here");
    iotrace_summary();
    return nothing;
}

int main(void) {
    pthread_t threads[8];
    for (int i = 0; i < 8; i++)
        pthread_create(&threads[i], 0, thread, 0);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], 0);
    return 0;
}
