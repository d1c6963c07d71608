// The way back: differences, each image's length over all parameters, clipping, sums over lots.

// The differences before the first linear layer, times the slopes there (in their place); all images of a lot and 196 numbers for each block of 224 threads.
// The weights stay in shared memory (50 kB, given at launch); 64 images at a time pass by.
extern "C" __global__ void __launch_bounds__(224, 2) back(
    const u64* points, const u32* first, const float* d1, float* slope)
{
    extern __shared__ float ws[];
    __shared__ __align__(16) float ds[64 * 68];
    u32 base = first[0], part = blockIdx.x * PLANE;
    u32 begin = first[blockIdx.y] - base, end = first[blockIdx.y + 1] - base;
    const float* model = (const float*)points[blockIdx.y] + W1 + part;
    int t = threadIdx.x, cg = t % 28, sg = t / 28;
#pragma unroll 8
    for (int n = t; n < HIDDEN * PLANE; n += 224) ws[n] = model[(n / PLANE) * POOLED + n % PLANE];
    for (u32 from = begin; from < end; from += 64) {
        int count = (int)(end - from < 64 ? end - from : 64);
        __syncthreads();
        for (int n = t; n < 64 * HIDDEN; n += 224)
            ds[(n / HIDDEN) * 68 + n % HIDDEN] = n / HIDDEN < count ? d1[(u64)from * HIDDEN + n] : 0.0f;
        __syncthreads();
        float sum[8][7];
#pragma unroll
        for (int i = 0; i < 8; i++)
#pragma unroll
            for (int j = 0; j < 7; j++) sum[i][j] = 0.0f;
#pragma unroll 2
        for (int q = 0; q < HIDDEN; q += 4) {
            float4 d[8];
#pragma unroll
            for (int i = 0; i < 8; i++) d[i] = *(const float4*)(ds + (sg + 8 * i) * 68 + q);
#pragma unroll
            for (int j = 0; j < 7; j++) {
                const float* w = ws + q * PLANE + cg + 28 * j;
                float w0 = w[0], w1 = w[PLANE], w2 = w[2 * PLANE], w3 = w[3 * PLANE];
#pragma unroll
                for (int i = 0; i < 8; i++) {
                    sum[i][j] = fmaf(d[i].x, w0, sum[i][j]);
                    sum[i][j] = fmaf(d[i].y, w1, sum[i][j]);
                    sum[i][j] = fmaf(d[i].z, w2, sum[i][j]);
                    sum[i][j] = fmaf(d[i].w, w3, sum[i][j]);
                }
            }
        }
#pragma unroll
        for (int i = 0; i < 8; i++) {
            int s = sg + 8 * i;
            if (s >= count) continue;
            float* here = slope + (u64)(from + s) * POOLED + part + cg;
#pragma unroll
            for (int j = 0; j < 7; j++) here[28 * j] *= sum[i][j];
        }
    }
}

__device__ __forceinline__ float total(float x) {
#pragma unroll
    for (int step = 16; step > 0; step /= 2) x += __shfl_xor_sync(0xffffffffu, x, step);
    return x;
}

// Halves of numbers and of threads are exchanged, then added.
template <int STEP>
__device__ __forceinline__ void fold(float (&v)[32], int lane) {
    bool upper = (lane & STEP) != 0;
#pragma unroll
    for (int i = 0; i < STEP; i++) {
        float give = upper ? v[i] : v[i + STEP], keep = upper ? v[i + STEP] : v[i];
        v[i] = keep + __shfl_xor_sync(0xffffffffu, give, STEP);
    }
}

// Of 32 numbers in each of 32 threads: thread n is left with the sum of all n-th ones.
__device__ __forceinline__ float totals(float (&v)[32], int lane) {
    fold<16>(v, lane);
    fold<8>(v, lane);
    fold<4>(v, lane);
    fold<2>(v, lane);
    fold<1>(v, lane);
    return v[0];
}

// Each image's gradient of the kernels, its length over all parameters, and what it is multiplied by; an image for each warp.
extern "C" __global__ void __launch_bounds__(128) clip(
    const u32* first, const u32* image, const u32* pixels, const float* table, const float* bounds,
    float* h, const float* slope, const u8* place, float* a, float* d1, float* d2,
    const float* square1, const float* square2, float* kept)
{
    u32 base = first[0];
    __shared__ float lookup[256];
    __shared__ __align__(8) float images[4][SIDE * ROW];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int n = threadIdx.x; n < 256; n += 128) lookup[n] = table[n];
    __syncthreads();
    u32 here = first[blockIdx.y] + blockIdx.x * 4 + warp;
    if (here >= first[blockIdx.y + 1]) return;
    float* x = images[warp];
    const u32* bytes = pixels + (u64)image[here] * 256;
    for (int n = lane; n < 256; n += 32) spread(x, lookup, bytes[n], n);
    __syncwarp();
    u64 slot = here - base;
    float squares = 0.0f, own[3];
#pragma unroll
    for (int c = 0; c < 3; c++) {
        float v[32];
#pragma unroll
        for (int k = 0; k < 32; k++) v[k] = 0.0f;
        for (int n = lane; n < PLANE; n += 32) {
            u64 at = slot * POOLED + c * PLANE + n;
            float d = slope[at];
            int p = place[at];
            // The whole patch is read, and the place chosen afterwards: reads then meet in no bank.
            const float* patch = x + 2 * (n / 14) * ROW + 2 * (n % 14);
            bool below = p & 2, beside = p & 1;
            float line[6], next[6];
            six(patch, line);
#pragma unroll
            for (int r = 0; r < 5; r++) {
                six(patch + (r + 1) * ROW, next);
#pragma unroll
                for (int u = 0; u < 5; u++) {
                    float left = below ? next[u] : line[u], right = below ? next[u + 1] : line[u + 1];
                    v[5 * r + u] = fmaf(d, beside ? right : left, v[5 * r + u]);
                }
#pragma unroll
                for (int u = 0; u < 6; u++) line[u] = next[u];
            }
            v[TAPS] += d;
        }
        own[c] = totals(v, lane);
        squares = fmaf(own[c], own[c], squares);
    }
    float length = 0.0f;
    for (int n = lane; n < POOLED; n += 32) {
        float number = h[slot * POOLED + n];
        length = fmaf(number, number, length);
    }
    float all = total(squares) + (total(length) + 1.0f) * square1[slot] + square2[slot];
    // Written so that what is not a number has no factor.
    float bound = bounds[blockIdx.y], norm = sqrtf(all), factor;
    float most = (float)(MARGIN * (double)bound);
    if (bound == INFINITY || norm <= most) {
        factor = 1.0f;
    } else if (norm < INFINITY) {
        factor = most / norm;
    } else {
        // It counts for nothing, and nothing of it is left.
        factor = 0.0f;
        for (int n = lane; n < POOLED; n += 32) h[slot * POOLED + n] = 0.0f;
        for (int n = lane; n < HIDDEN; n += 32) a[slot * HIDDEN + n] = d1[slot * HIDDEN + n] = 0.0f;
        if (lane < CLASSES) d2[slot * CLASSES + lane] = 0.0f;
        own[0] = own[1] = own[2] = 0.0f;
    }
    for (int n = lane; n < HIDDEN; n += 32) d1[slot * HIDDEN + n] *= factor;
    if (lane < CLASSES) d2[slot * CLASSES + lane] *= factor;
#pragma unroll
    for (int c = 0; c < 3; c++) {
        if (lane < TAPS) kept[slot * KERNELS + c * TAPS + lane] = factor * own[c];
        if (lane == TAPS) kept[slot * KERNELS + 3 * TAPS + c] = factor * own[c];
    }
}

// Sums of the first linear layer's gradients over a lot; 64 outputs and 196 inputs for each block of 224 threads.
extern "C" __global__ void __launch_bounds__(224, 2) outer(
    const u32* first, const float* h, const float* d1, float* sum)
{
    u32 base = first[0], part = blockIdx.x * PLANE;
    u32 from = first[blockIdx.y] - base;
    int count = (int)(first[blockIdx.y + 1] - base - from);
    __shared__ __align__(16) float ds[16 * HIDDEN];
    __shared__ float hs[16 * PLANE];
    int t = threadIdx.x, cg = t % 28, og = t / 28;
    float acc[8][7];
#pragma unroll
    for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j < 7; j++) acc[i][j] = 0.0f;
    // What comes next is read while what is here is multiplied.
    float dn[5], hn[14];
    for (int k = -16; k < count; k += 16) {
        if (k >= 0) {
            __syncthreads();
#pragma unroll
            for (int i = 0; i < 5; i++)
                if (t + 224 * i < 16 * HIDDEN) ds[t + 224 * i] = dn[i];
#pragma unroll
            for (int i = 0; i < 14; i++) hs[t + 224 * i] = hn[i];
            __syncthreads();
        }
        int left = count - k - 16;
#pragma unroll
        for (int i = 0; i < 5; i++) {
            int n = t + 224 * i;
            dn[i] = n < 16 * HIDDEN && n / HIDDEN < left ? d1[(u64)(from + k + 16) * HIDDEN + n] : 0.0f;
        }
#pragma unroll
        for (int i = 0; i < 14; i++) {
            int n = t + 224 * i, s = n / PLANE;
            hn[i] = s < left ? h[(u64)(from + k + 16 + s) * POOLED + part + n % PLANE] : 0.0f;
        }
        if (k < 0) continue;
#pragma unroll 4
        for (int s = 0; s < 16; s++) {
            float4 low = *(const float4*)(ds + s * HIDDEN + 4 * og);
            float4 up = *(const float4*)(ds + s * HIDDEN + 32 + 4 * og);
            float d[8] = {low.x, low.y, low.z, low.w, up.x, up.y, up.z, up.w};
#pragma unroll
            for (int j = 0; j < 7; j++) {
                float number = hs[s * PLANE + cg + 28 * j];
#pragma unroll
                for (int i = 0; i < 8; i++) acc[i][j] = fmaf(d[i], number, acc[i][j]);
            }
        }
    }
    float* out = sum + (u64)blockIdx.y * PARAMETERS + W1 + part + cg;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        int o = (i < 4 ? 0 : 28) + 4 * og + i;
#pragma unroll
        for (int j = 0; j < 7; j++) out[o * POOLED + 28 * j] = acc[i][j];
    }
}

// Sums of all other gradients over a lot: kernels, biases, the second linear layer.
extern "C" __global__ void __launch_bounds__(256) small(
    const u32* first, const float* a, const float* d1, const float* d2, const float* kept, float* sum)
{
    u32 base = first[0], from = first[blockIdx.y] - base, end = first[blockIdx.y + 1] - base;
    float* out = sum + (u64)blockIdx.y * PARAMETERS;
    int n = blockIdx.x * 256 + threadIdx.x;
    float acc = 0.0f;
    if (n < KERNELS) {
#pragma unroll 8
        for (u32 s = from; s < end; s++) acc += kept[(u64)s * KERNELS + n];
        out[n] = acc;
        return;
    }
    n -= KERNELS;
    if (n < HIDDEN) {
#pragma unroll 8
        for (u32 s = from; s < end; s++) acc += d1[(u64)s * HIDDEN + n];
        out[B1 + n] = acc;
        return;
    }
    n -= HIDDEN;
    if (n < CLASSES * HIDDEN) {
        int j = n / HIDDEN, o = n % HIDDEN;
#pragma unroll 8
        for (u32 s = from; s < end; s++) acc = fmaf(d2[(u64)s * CLASSES + j], a[(u64)s * HIDDEN + o], acc);
        out[W2 + n] = acc;
        return;
    }
    n -= CLASSES * HIDDEN;
    if (n < CLASSES) {
#pragma unroll 8
        for (u32 s = from; s < end; s++) acc += d2[(u64)s * CLASSES + n];
        out[B2 + n] = acc;
    }
}

// Of each lot: the sum of its losses that are numbers, how many were classified right, how many losses are no number.
extern "C" __global__ void __launch_bounds__(256) tally(
    const u32* first, const float* loss, const u8* right, float* losses, u32* rights, u32* lost)
{
    __shared__ float sums[256];
    __shared__ u32 counts[256], gone[256];
    u32 base = first[0], t = threadIdx.x;
    float sum = 0.0f;
    u32 count = 0, none = 0;
    for (u32 s = first[blockIdx.y] - base + t; s < first[blockIdx.y + 1] - base; s += 256) {
        float one = loss[s];
        bool finite = fabsf(one) < INFINITY;
        sum += finite ? one : 0.0f;
        count += finite ? right[s] : 0;
        none += !finite;
    }
    sums[t] = sum;
    counts[t] = count;
    gone[t] = none;
    for (u32 step = 128; step > 0; step /= 2) {
        __syncthreads();
        if (t < step) {
            sums[t] += sums[t + step];
            counts[t] += counts[t + step];
            gone[t] += gone[t + step];
        }
    }
    if (t == 0) {
        losses[blockIdx.y] = sums[0];
        rights[blockIdx.y] = counts[0];
        lost[blockIdx.y] = gone[0];
    }
}
