// The consensus paper's net, forward: many agents' lots at once, each with parameters of its own. `back.cu` goes on from here.
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

