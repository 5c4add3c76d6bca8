// Look-ups in a DIR-24-8 with cells of 4 bytes, as rte_lpm has them, of what Java has put into files.
// dir24 CELLS KEYS ROUNDS: prints nanoseconds of processor time a look-up, independent ones and those that wait for the one before.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static uint32_t *read_words(const char *name, size_t *count)
{
	FILE *file = fopen(name, "rb");
	if (!file || fseek(file, 0, SEEK_END))
		exit(1);
	*count = ftell(file) / 4;
	rewind(file);
	uint32_t *words = malloc(*count * 4);
	if (!words || fread(words, 4, *count, file) != *count)
		exit(1);
	fclose(file);
	return words;
}

static uint32_t groups[1][256];

static inline uint32_t lookup(const uint32_t *cells, uint32_t key)
{
	uint32_t cell = cells[key >> 8];
	return __builtin_expect(cell >> 31, 0) ? groups[cell & 0xffffff][key & 0xff] : cell;
}

int main(int argc, char **argv)
{
	size_t n, cell_count;
	if (argc != 4)
		return 2;
	uint32_t *cells = read_words(argv[1], &cell_count);
	uint32_t *keys = read_words(argv[2], &n);
	uint16_t *hops = malloc(2 * n);
	double best = 1e18, best_chain = 1e18;
	uint32_t sum = 0;
	for (int round = 0; round < atoi(argv[3]); round++) {
		double start = now();
		for (size_t i = 0; i < n; i++)
			hops[i] = lookup(cells, keys[i]);
		double took = (now() - start) / n;
		best = took < best ? took : best;
		start = now();
		uint32_t last = 0;
		for (size_t i = 0; i < n; i++)
			last = lookup(cells, keys[i] ^ (last & 1));
		took = (now() - start) / n;
		best_chain = took < best_chain ? took : best_chain;
		sum += last + hops[n - 1];
	}
	printf("%.3f %.3f %u\n", best, best_chain, sum);
	return 0;
}
