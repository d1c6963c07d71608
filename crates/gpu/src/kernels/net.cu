// The consensus paper's net: clipped gradients of many agents' lots at once, each with parameters of its own.
//
//   convolve ──► classify ──► back ──► clip ──► outer, small
//   pooled h     scores, d1   dP       factors  sums over each lot
//
// A lot is a range of slots: first[lot] .. first[lot + 1]; a slot is an image. The second coordinate of a grid is the lot. Products that are added are
// rounded once and written as such (fmaf); all other operations are rounded one by one, as on a processor. Sums have one order: no atomics.

#define SIDE 32                 // images are 32x32
#define PIXELS 1024
#define PLANE 196               // windows of 2x2 in 28x28
#define POOLED 588              // of three channels
#define HIDDEN 64
#define CLASSES 10
#define TAPS 25
#define KERNELS 78              // three kernels of 5x5, then their biases
#define W1 78                   // where parameters lie
#define B1 (W1 + HIDDEN * POOLED)
#define W2 (B1 + HIDDEN)
#define B2 (W2 + CLASSES * HIDDEN)
#define PARAMETERS (B2 + CLASSES)
#define ROW 46                  // images in shared memory: windows below each other lie in other banks
#define MARGIN 0.999996         // norms are right to a few parts in a million; gradients are made shorter by more than that

#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif

typedef unsigned int u32;
typedef unsigned char u8;
typedef unsigned long long u64;

struct Slope { float value, slope; };

// Mish is z n/(n + 2) with e = exp(z), n = e (e + 2); what is not a number stays so.
__device__ __forceinline__ Slope mish(float z) {
    float near = z > 20.0f ? 20.0f : z;
    float e = __expf(near);
    float n = e * (e + 2.0f);
    float part = __fdividef(1.0f, n + 2.0f);
    float share = n * part;
    Slope out;
    out.value = z * share;
    out.slope = fmaf((near * 4.0f) * (e * part), (e + 1.0f) * part, share);
    return out;
}

// A word of four bytes of an image, as numbers, into a padded row.
__device__ __forceinline__ void spread(float* x, const float* table, u32 word, int at) {
    float* here = x + (at / 8) * ROW + (at % 8) * 4;
    here[0] = table[word & 255];
    here[1] = table[(word >> 8) & 255];
    here[2] = table[(word >> 16) & 255];
    here[3] = table[word >> 24];
}

// Six numbers beside each other, from an even place on.
__device__ __forceinline__ void six(const float* x, float (&line)[6]) {
#pragma unroll
    for (int k = 0; k < 3; k++) {
        float2 two = *(const float2*)(x + 2 * k);
        line[2 * k] = two.x;
        line[2 * k + 1] = two.y;
    }
}

// Convolution, Mish and max pool; 32 images of a lot for each block of 256 threads, a window for each thread.
extern "C" __global__ void __launch_bounds__(256, 4) convolve(
    const u64* points, const u32* first, const u32* image, const u32* pixels, const float* table,
    float* h, float* slope, u8* place)
{
    u32 from = first[blockIdx.y] + blockIdx.x * 32, end = first[blockIdx.y + 1];
    if (from >= end) return;
    u32 stop = from + 32 < end ? from + 32 : end;
    u32 base = first[0];
    const float* model = (const float*)points[blockIdx.y];
    __shared__ float lookup[256];
    __shared__ __align__(8) float x[SIDE * ROW];
    int t = threadIdx.x;
    lookup[t] = table[t];
    float w[3][TAPS], bias[3];
#pragma unroll
    for (int c = 0; c < 3; c++) {
#pragma unroll
        for (int k = 0; k < TAPS; k++) w[c][k] = model[c * TAPS + k];
        bias[c] = model[3 * TAPS + c];
    }
    int row = 2 * (t / 14), column = 2 * (t % 14);
    u32 next = pixels[(u64)image[from] * 256 + t];
    for (u32 slot = from; slot < stop; slot++) {
        __syncthreads();
        spread(x, lookup, next, t);
        if (slot + 1 < stop) next = pixels[(u64)image[slot + 1] * 256 + t];
        __syncthreads();
        if (t >= PLANE) continue;
        float z[3][4];
#pragma unroll
        for (int c = 0; c < 3; c++) {
#pragma unroll
            for (int p = 0; p < 4; p++) z[c][p] = bias[c];
        }
#pragma unroll
        for (int r = 0; r < 6; r++) {
            float line[6];
            six(x + (row + r) * ROW + column, line);
#pragma unroll
            for (int dy = 0; dy < 2; dy++) {
                int v = r - dy;
                if (v < 0 || v > 4) continue;
#pragma unroll
                for (int c = 0; c < 3; c++) {
#pragma unroll
                    for (int dx = 0; dx < 2; dx++) {
#pragma unroll
                        for (int u = 0; u < 5; u++)
                            z[c][2 * dy + dx] = fmaf(w[c][v * 5 + u], line[dx + u], z[c][2 * dy + dx]);
                    }
                }
            }
        }
        u64 at = (u64)(slot - base) * POOLED + t;
#pragma unroll
        for (int c = 0; c < 3; c++) {
            // Mish falls, then rises: its largest value is at the largest or at the smallest number.
            float high = z[c][0], low = z[c][0];
            int highest = 0, lowest = 0;
#pragma unroll
            for (int p = 1; p < 4; p++) {
                if (z[c][p] > high) { high = z[c][p]; highest = p; }
                if (z[c][p] < low) { low = z[c][p]; lowest = p; }
            }
            Slope best = mish(high);
            if (high < 0.0f) {
                Slope other = mish(low);
                if (other.value > best.value) { best = other; highest = lowest; }
            }
            h[at + c * PLANE] = best.value;
            slope[at + c * PLANE] = best.slope;
            place[at + c * PLANE] = (u8)highest;
        }
    }
}

#define DEPTH 28

// Both linear layers, Mish between them, cross-entropy, and the way back to the first layer's outputs; 64 images of a lot for each block of 128 threads.
extern "C" __global__ void __launch_bounds__(128, 5) classify(
    const u64* points, const u32* first, const u32* image, const u8* labels, const float* h,
    float* a, float* d1, float* d2, float* square1, float* square2, float* loss, u8* right, int learn)
{
    u32 base = first[0];
    u32 from = first[blockIdx.y] + blockIdx.x * 64, end = first[blockIdx.y + 1];
    if (from >= end) return;
    int count = (int)(from + 64 < end ? 64 : end - from);
    const float* model = (const float*)points[blockIdx.y];
    // Tiles first, then what follows: activations and slopes (64 x 65), the second layer (10 x 65 and its biases).
    __shared__ __align__(16) float room[2 * 64 * 65 + CLASSES * 65 + 16];
    float* xs = room;
    float* ws = room + 64 * DEPTH;
    int t = threadIdx.x;
    int og = t % 8, sg = t / 8;
    const float* rows = h + (u64)(from - base) * POOLED;
    float z[4][8];
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 8; j++) z[i][j] = model[B1 + og + 8 * j];
    for (int k = 0; k < POOLED; k += DEPTH) {
        __syncthreads();
        for (int n = t; n < 64 * (DEPTH / 4); n += 128) {
            int s = n / (DEPTH / 4), q = n % (DEPTH / 4);
            float4 four = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
            if (s < count) four = *(const float4*)(rows + (u64)s * POOLED + k + 4 * q);
            *(float4*)(xs + s * DEPTH + 4 * q) = four;
        }
        for (int n = t; n < 64 * (DEPTH / 2); n += 128) {
            int o = n / (DEPTH / 2), q = n % (DEPTH / 2);
            *(float2*)(ws + o * DEPTH + 2 * q) = *(const float2*)(model + W1 + o * POOLED + k + 2 * q);
        }
        __syncthreads();
#pragma unroll 1
        for (int q = 0; q < DEPTH; q += 4) {
            float4 x[4];
#pragma unroll
            for (int i = 0; i < 4; i++) x[i] = *(const float4*)(xs + (sg + 16 * i) * DEPTH + q);
#pragma unroll
            for (int j = 0; j < 8; j++) {
                float4 w = *(const float4*)(ws + (og + 8 * j) * DEPTH + q);
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    z[i][j] = fmaf(x[i].x, w.x, z[i][j]);
                    z[i][j] = fmaf(x[i].y, w.y, z[i][j]);
                    z[i][j] = fmaf(x[i].z, w.z, z[i][j]);
                    z[i][j] = fmaf(x[i].w, w.w, z[i][j]);
                }
            }
        }
    }
    __syncthreads();
    float* as = room;
    float* ds = room + 64 * 65;
    float* w2 = room + 2 * 64 * 65;
    float* b2 = w2 + CLASSES * 65;
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 8; j++) {
            Slope bent = mish(z[i][j]);
            as[(sg + 16 * i) * 65 + og + 8 * j] = bent.value;
            ds[(sg + 16 * i) * 65 + og + 8 * j] = bent.slope;
        }
    for (int n = t; n < CLASSES * HIDDEN; n += 128) w2[(n / HIDDEN) * 65 + n % HIDDEN] = model[W2 + n];
    if (t < CLASSES) b2[t] = model[B2 + t];
    __syncthreads();
    // Two threads for each image: five classes each.
    int s = t / 2, half = t % 2;
    float score[5];
#pragma unroll
    for (int j = 0; j < 5; j++) score[j] = b2[5 * half + j];
    float length = 0.0f;
    for (int o = 0; o < HIDDEN; o++) {
        float number = as[s * 65 + o];
        length = fmaf(number, number, length);
#pragma unroll
        for (int j = 0; j < 5; j++) score[j] = fmaf(w2[(5 * half + j) * 65 + o], number, score[j]);
    }
    // The first of the largest; what is not a number is never right.
    float largest = -INFINITY;
    int best = 255;
#pragma unroll
    for (int j = 0; j < 5; j++)
        if (score[j] > largest) { largest = score[j]; best = 5 * half + j; }
    float other = __shfl_xor_sync(0xffffffffu, largest, 1);
    int there = __shfl_xor_sync(0xffffffffu, best, 1);
    if (half == 0 ? other > largest : !(largest > other)) { largest = other; best = there; }
    int label = s < count ? labels[image[from + s]] : 0;
    float sum = 0.0f, mine = 0.0f, delta[CLASSES];
#pragma unroll
    for (int j = 0; j < 5; j++) {
        float power = expf(score[j] - largest);
        sum += power;
        if (5 * half + j == label) mine = score[j];
        delta[5 + j] = power;
    }
    sum += __shfl_xor_sync(0xffffffffu, sum, 1);
    mine += __shfl_xor_sync(0xffffffffu, mine, 1);
    float share = 1.0f / sum, square = 0.0f;
#pragma unroll
    for (int j = 0; j < 5; j++) {
        float own = delta[5 + j] * share - (5 * half + j == label ? 1.0f : 0.0f);
        float hers = __shfl_xor_sync(0xffffffffu, own, 1);
        square = fmaf(own, own, fmaf(hers, hers, square));
        delta[j] = half == 0 ? own : hers;
        delta[5 + j] = half == 0 ? hers : own;
    }
    u64 slot = from - base + s;
    if (s < count && half == 0) {
        loss[slot] = logf(sum) + largest - mine;
        right[slot] = best == label && largest > -INFINITY;
    }
    if (!learn) return;
    float length1 = 0.0f;
    for (int o = half; o < HIDDEN; o += 2) {
        float sum1 = 0.0f;
#pragma unroll
        for (int j = 0; j < CLASSES; j++) sum1 = fmaf(w2[j * 65 + o], delta[j], sum1);
        sum1 *= ds[s * 65 + o];
        ds[s * 65 + o] = sum1;
        length1 = fmaf(sum1, sum1, length1);
    }
    length1 += __shfl_xor_sync(0xffffffffu, length1, 1);
    if (s < count && half == 0) {
        square1[slot] = length1;
        square2[slot] = (length + 1.0f) * square;
#pragma unroll
        for (int j = 0; j < CLASSES; j++) d2[slot * CLASSES + j] = delta[j];
    }
    __syncthreads();
    for (int n = t; n < count * HIDDEN; n += 128) {
        u64 at = (u64)(from - base) * HIDDEN + n;
        a[at] = as[(n / HIDDEN) * 65 + n % HIDDEN];
        d1[at] = ds[(n / HIDDEN) * 65 + n % HIDDEN];
    }
}

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
