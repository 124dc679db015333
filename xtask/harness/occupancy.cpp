// Feeds launch shapes to NVIDIA's cuda_occupancy.h and writes what it answers. Compiled by `cargo xtask oracle` and
// `cargo xtask bench-compare` against the header of a PyPI wheel; the header itself is never part of this repository.
//
//   occupancy                 points from standard input until its end, answers to standard output
//   occupancy bench REPEATS   the same points, evaluated REPEATS times; prints nanoseconds a point on standard error
//
// A point is 24 little-endian int32, an answer 12; the order is that of the structs below.
// HAS_VIRTUAL: the header is 13.x and knows virtual resources.
#include <cuda_occupancy.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

struct Point {
    int32_t major, minor, max_threads_per_block, max_threads_per_sm, registers_per_block, registers_per_sm;
    int32_t warp_size, shared_per_block, shared_per_sm, sm_count, shared_optin, shared_reserved;
    int32_t function_max_threads, registers, shared_static, partitioned, opt_in, max_dynamic, barriers, virtuals;
    int32_t cache_config, carveout, block, shared_dynamic;
};

struct Answer {
    int32_t status, blocks, registers, shared, warps, block_slots, barriers, virtuals;
    int32_t allocated_registers, allocated_shared, partitioned, factors;
};

static_assert(sizeof(Point) == 24 * 4 && sizeof(Answer) == 12 * 4, "records have no padding");

static Answer ask(const Point &p) {
    cudaOccDeviceProp device;
    device.computeMajor = p.major;
    device.computeMinor = p.minor;
    device.maxThreadsPerBlock = p.max_threads_per_block;
    device.maxThreadsPerMultiprocessor = p.max_threads_per_sm;
    device.regsPerBlock = p.registers_per_block;
    device.regsPerMultiprocessor = p.registers_per_sm;
    device.warpSize = p.warp_size;
    device.sharedMemPerBlock = p.shared_per_block;
    device.sharedMemPerMultiprocessor = p.shared_per_sm;
    device.numSms = p.sm_count;
    device.sharedMemPerBlockOptin = p.shared_optin;
    device.reservedSharedMemPerBlock = p.shared_reserved;

    cudaOccFuncAttributes function;
    function.maxThreadsPerBlock = p.function_max_threads;
    function.numRegs = p.registers;
    function.sharedSizeBytes = p.shared_static;
    function.partitionedGCConfig = static_cast<cudaOccPartitionedGCConfig>(p.partitioned);
    function.shmemLimitConfig = p.opt_in ? FUNC_SHMEM_LIMIT_OPTIN : FUNC_SHMEM_LIMIT_DEFAULT;
    function.maxDynamicSharedSizeBytes = p.max_dynamic;
    function.numBlockBarriers = p.barriers;
#ifdef HAS_VIRTUAL
    function.virtualResourceCount = p.virtuals;
#endif

    cudaOccDeviceState state;
    state.cacheConfig = static_cast<cudaOccCacheConfig>(p.cache_config);
    state.carveoutConfig = p.carveout;

    cudaOccResult result;
    std::memset(&result, 0, sizeof result);
    Answer a;
    a.status = cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &function, &state, p.block, p.shared_dynamic);
    a.blocks = result.activeBlocksPerMultiprocessor;
    a.registers = result.blockLimitRegs;
    a.shared = result.blockLimitSharedMem;
    a.warps = result.blockLimitWarps;
    a.block_slots = result.blockLimitBlocks;
    a.barriers = result.blockLimitBarriers;
#ifdef HAS_VIRTUAL
    a.virtuals = result.blockLimitVirtual;
#else
    a.virtuals = INT32_MAX;
#endif
    a.allocated_registers = result.allocatedRegistersPerBlock;
    a.allocated_shared = static_cast<int32_t>(result.allocatedSharedMemPerBlock);
    a.partitioned = result.partitionedGCConfig;
    a.factors = static_cast<int32_t>(result.limitingFactors);
    return a;
}

int main(int argc, char **argv) {
    std::vector<Point> points;
    std::vector<Point> chunk(4096);
    size_t read;
    while ((read = fread(chunk.data(), sizeof(Point), chunk.size(), stdin)) > 0) {
        points.insert(points.end(), chunk.begin(), chunk.begin() + read);
    }
    if (argc == 3 && std::strcmp(argv[1], "bench") == 0) {
        const int repeats = std::atoi(argv[2]);
        int64_t sum = 0;
        const auto start = std::chrono::steady_clock::now();
        for (int i = 0; i < repeats; i++) {
            for (const Point &p : points) {
                sum += ask(p).blocks;
            }
        }
        const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
        std::fprintf(stderr, "%.4f %lld\n", spent.count() / (double(points.size()) * repeats), (long long)sum);
        return 0;
    }
    std::vector<Answer> answers;
    answers.reserve(points.size());
    for (const Point &p : points) {
        answers.push_back(ask(p));
    }
    return fwrite(answers.data(), sizeof(Answer), answers.size(), stdout) == answers.size() ? 0 : 1;
}
