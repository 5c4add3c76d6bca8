// What Intel's ISA-L takes for the repairs that Fec makes: the same coefficients, the same data.
//   isal-fec K M BYTES MILLISECONDS  prints the CRC-32 of the repairs, the blocks, and the ns of processor time
#include <isa-l/crc.h>
#include <isa-l/erasure_code.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MAX_DATA = 64, MAX_REPAIR = 32, ROUNDS = 64 };

static int64_t cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int main(int count, char **arguments) {
    int k = count == 5 ? atoi(arguments[1]) : 0, m = count == 5 ? atoi(arguments[2]) : 0;
    int bytes = count == 5 ? atoi(arguments[3]) : 0;
    if (k < 1 || k > MAX_DATA || m < 1 || m > MAX_REPAIR || bytes < 1 || bytes > 65535) {
        fputs("isal-fec K M BYTES MILLISECONDS: K 1 to 64, M 1 to 32, BYTES 1 to 65535\n", stderr);
        return 2;
    }
    int64_t limit_ns = atoll(arguments[4]) * 1000000;
    unsigned char *data[MAX_DATA], *repairs[MAX_REPAIR];
    unsigned char coefficients[MAX_DATA * MAX_REPAIR], tables[32 * MAX_DATA * MAX_REPAIR];
    uint32_t state = 1;
    unsigned char *all = malloc((size_t)(k + m) * bytes);
    if (!all) return 1;
    for (int i = 0; i < k; i++) {
        data[i] = all + (size_t)i * bytes;
        for (int x = 0; x < bytes; x++) {
            state = state * 1103515245u + 12345u;
            data[i][x] = (unsigned char)(state >> 16);
        }
    }
    for (int r = 0; r < m; r++) {
        repairs[r] = all + (size_t)(k + r) * bytes;
        for (int i = 0; i < k; i++) {
            int column = MAX_REPAIR + i;
            coefficients[r * k + i] = gf_mul(column, gf_inv(r ^ column));
        }
    }
    ec_init_tables(k, m, coefficients, tables);
    int64_t blocks = 0, ns, began = cpu_ns();
    do {
        for (int round = 0; round < ROUNDS; round++) ec_encode_data(bytes, k, m, tables, data, repairs);
        blocks += ROUNDS;
        ns = cpu_ns() - began;
    } while (ns < limit_ns);
    printf("%08x %lld %lld\n", crc32_gzip_refl(0, repairs[0], (uint64_t)m * bytes), (long long)blocks, (long long)ns);
    free(all);
    return 0;
}
