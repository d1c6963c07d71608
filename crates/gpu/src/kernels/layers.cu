// Nets of convolutions, GroupNorm, leaky ReLU, max pools and residual blocks: forward, back, and every image's own gradient, written down.
//
//   columns ──► product ──► pool ──► level ──► leak ──► ... ──► entropy ──► and back ──► own gradients ──► lengths ──► shorten ──► gather
//
// Numbers of an image lie pixel after pixel, the channels of a pixel beside each other; a convolution is then one product of all its patches by its weights. Sums have
// one order: no atomics.

#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif

typedef unsigned int u32;
typedef unsigned char u8;
typedef unsigned long long u64;

#define MARGIN 0.999996         // norms are right to a few parts in a million; gradients are made shorter by more than that

// Images as numbers: bytes lie channel after channel. A thread for each number of an image.
extern "C" __global__ void look(
    const u32* picked, const u8* bytes, const float* table, float* x, u32 channels, u32 pixels)
{
    u32 n = blockIdx.x * 256 + threadIdx.x, size = channels * pixels;
    if (n >= size) return;
    u32 c = n % channels, at = n / channels;
    u8 byte = bytes[(u64)picked[blockIdx.y] * size + c * pixels + at];
    x[(u64)blockIdx.y * size + n] = table[c * 256 + byte];
}

// Patches of an image: a row for each pixel, its numbers in the order in which weights lie (channel, row, column).
extern "C" __global__ void columns(
    const float* x, float* out, u32 channels, u32 height, u32 width, u32 kernel, u32 padding)
{
    u32 taps = kernel * kernel, row = channels * taps;
    u32 high = height + 2 * padding - kernel + 1, wide = width + 2 * padding - kernel + 1;
    u64 n = (u64)blockIdx.x * 256 + threadIdx.x, size = (u64)high * wide * row;
    if (n >= size) return;
    u32 k = (u32)(n % row), at = (u32)(n / row), c = k / taps, tap = k % taps;
    int v = (int)(at / wide + tap / kernel) - (int)padding, u = (int)(at % wide + tap % kernel) - (int)padding;
    bool inside = v >= 0 && u >= 0 && v < (int)height && u < (int)width;
    out[blockIdx.y * size + n] = inside ? x[((u64)blockIdx.y * height * width + v * width + u) * channels + c] : 0.0f;
}

// What patches say of pixels: the way back from `columns`. With `more` it is added to what is there.
extern "C" __global__ void pixels(
    const float* d, float* out, u32 channels, u32 height, u32 width, u32 kernel, u32 padding, u32 more)
{
    u32 taps = kernel * kernel, row = channels * taps;
    int high = (int)(height + 2 * padding - kernel + 1), wide = (int)(width + 2 * padding - kernel + 1);
    u32 n = blockIdx.x * 256 + threadIdx.x;
    if (n >= height * width * channels) return;
    u32 c = n % channels, at = n / channels;
    const float* here = d + (u64)blockIdx.y * high * wide * row;
    float sum = 0.0f;
    for (u32 tap = 0; tap < taps; tap++) {
        int v = (int)(at / width + padding) - (int)(tap / kernel), u = (int)(at % width + padding) - (int)(tap % kernel);
        if (v >= 0 && u >= 0 && v < high && u < wide) sum += here[(u64)(v * wide + u) * row + c * taps + tap];
    }
    u64 place = (u64)blockIdx.y * height * width * channels + n;
    out[place] = more ? out[place] + sum : sum;
}

#define TILE 128
#define DEEP 8

// C[m][n] = sum_k A[m][k] B[k][n] (+ bias[n]), 128 by 128 for each block of 256 threads, 8 by 8 for each thread. Numbers of A lie along k or (ACROSS) along m, those of B
// along n or (ALONG) along k. Each lot of the second coordinate has an A, a B and a C of its own, so far apart.
template <bool ACROSS, bool ALONG>
__device__ __forceinline__ void multiply(
    const float* a, const float* b, const float* bias, float* c, u32 m, u32 n, u32 k, u64 apart_a, u64 apart_b, u64 apart_c)
{
    __shared__ __align__(16) float as[DEEP][TILE + 4], bs[DEEP][TILE + 4];
    u32 wide = (n + TILE - 1) / TILE, t = threadIdx.x;
    u32 top = blockIdx.x / wide * TILE, left = blockIdx.x % wide * TILE;
    a += blockIdx.y * apart_a;
    b += blockIdx.y * apart_b;
    c += blockIdx.y * apart_c;
    u32 row = t / 16 * 4, column = t % 16 * 4;
    float sum[8][8];
#pragma unroll
    for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j < 8; j++) sum[i][j] = 0.0f;
    for (u32 from = 0; from < k; from += DEEP) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            u32 e = t + 256 * i;
            u32 am = ACROSS ? e % TILE : e / DEEP, ak = ACROSS ? e / TILE : e % DEEP;
            bool there = top + am < m && from + ak < k;
            u64 at = ACROSS ? (u64)(from + ak) * m + top + am : (u64)(top + am) * k + from + ak;
            as[ak][am] = there ? a[at] : 0.0f;
            u32 bn = ALONG ? e / DEEP : e % TILE, bk = ALONG ? e % DEEP : e / TILE;
            there = left + bn < n && from + bk < k;
            at = ALONG ? (u64)(left + bn) * k + from + bk : (u64)(from + bk) * n + left + bn;
            bs[bk][bn] = there ? b[at] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int q = 0; q < DEEP; q++) {
            float4 a0 = *(const float4*)&as[q][row], a1 = *(const float4*)&as[q][64 + row];
            float4 b0 = *(const float4*)&bs[q][column], b1 = *(const float4*)&bs[q][64 + column];
            float x[8] = {a0.x, a0.y, a0.z, a0.w, a1.x, a1.y, a1.z, a1.w};
            float y[8] = {b0.x, b0.y, b0.z, b0.w, b1.x, b1.y, b1.z, b1.w};
#pragma unroll
            for (int i = 0; i < 8; i++)
#pragma unroll
                for (int j = 0; j < 8; j++) sum[i][j] = fmaf(x[i], y[j], sum[i][j]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 8; i++) {
        u32 mm = top + (i < 4 ? row + i : 60 + row + i);
        if (mm >= m) continue;
#pragma unroll
        for (int j = 0; j < 8; j++) {
            u32 nn = left + (j < 4 ? column + j : 60 + column + j);
            if (nn < n) c[(u64)mm * n + nn] = bias ? sum[i][j] + bias[nn] : sum[i][j];
        }
    }
}

#define PRODUCT(NAME, ACROSS, ALONG)                                                                                    \
    extern "C" __global__ void __launch_bounds__(256) NAME(                                                             \
        const float* a, const float* b, const float* bias, float* c, u32 m, u32 n, u32 k, u64 pa, u64 pb, u64 pc)       \
    {                                                                                                                   \
        multiply<ACROSS, ALONG>(a, b, bias, c, m, n, k, pa, pb, pc);                                                    \
    }
PRODUCT(product, false, true)   // patches by weights
PRODUCT(turned, false, false)   // differences by weights, the way back
PRODUCT(own, true, false)       // differences by patches: an image's own gradient

// The sums of an image's differences over its pixels: the gradient of biases. A thread for each channel.
extern "C" __global__ void biases(const float* d, float* out, u32 channels, u32 pixels, u64 apart) {
    u32 c = blockIdx.x * 64 + threadIdx.x;
    if (c >= channels) return;
    const float* here = d + (u64)blockIdx.y * pixels * channels + c;
    float sum = 0.0f;
    for (u32 n = 0; n < pixels; n++) sum += here[(u64)n * channels];
    out[blockIdx.y * apart + c] = sum;
}

// The largest of each window, and which pixel of it that is (the first, if several are); what is not a number is larger than all.
extern "C" __global__ void pool(const float* x, float* out, u32* place, u32 channels, u32 height, u32 width, u32 size) {
    u32 high = height / size, wide = width / size, n = blockIdx.x * 256 + threadIdx.x;
    if (n >= high * wide * channels) return;
    u32 c = n % channels, at = n / channels, first = at / wide * size * width + at % wide * size;
    const float* here = x + (u64)blockIdx.y * height * width * channels + c;
    float most = -INFINITY;
    u32 best = first;
    for (u32 v = 0; v < size; v++)
        for (u32 u = 0; u < size; u++) {
            float number = here[(u64)(first + v * width + u) * channels];
            if (number > most || number != number) {
                most = number;
                best = first + v * width + u;
            }
        }
    u64 to = (u64)blockIdx.y * high * wide * channels + n;
    out[to] = most;
    place[to] = best;
}

// The way back: each window's difference goes to one pixel. A thread for each pixel and channel before it.
extern "C" __global__ void pool_back(
    const float* d, const u32* place, float* out, u32 channels, u32 height, u32 width, u32 size)
{
    u32 n = blockIdx.x * 256 + threadIdx.x, high = height / size, wide = width / size;
    if (n >= height * width * channels) return;
    u32 c = n % channels, at = n / channels, v = at / width / size, u = at % width / size;
    u64 from = (u64)blockIdx.y * high * wide * channels + (u64)(v * wide + u) * channels + c;
    bool here = v < high && u < wide && place[from] == at;
    out[(u64)blockIdx.y * height * width * channels + n] = here ? d[from] : 0.0f;
}

// A sum over a block of 128 threads, known to all.
__device__ __forceinline__ float together(float number, float* room) {
    u32 t = threadIdx.x;
    __syncthreads();
    room[t] = number;
    for (u32 step = 64; step > 0; step /= 2) {
        __syncthreads();
        if (t < step) room[t] += room[t + step];
    }
    __syncthreads();
    return room[0];
}

// A group of channels brought to mean 0 and variance 1, then scaled and moved; a block for each group of each image. `kept` holds mean and inverse spread.
extern "C" __global__ void __launch_bounds__(128) level(
    const float* x, const float* weights, float* out, float* kept, u32 channels, u32 pixels, u32 groups)
{
    __shared__ float room[128];
    u32 each = channels / groups, size = each * pixels, first = blockIdx.x * each;
    const float* here = x + (u64)blockIdx.y * pixels * channels + first;
    float* to = out + (u64)blockIdx.y * pixels * channels + first;
    float sum = 0.0f;
    for (u32 n = threadIdx.x; n < size; n += 128) sum += here[(u64)(n / each) * channels + n % each];
    float mean = together(sum, room) / (float)size, squares = 0.0f;
    for (u32 n = threadIdx.x; n < size; n += 128) {
        float off = here[(u64)(n / each) * channels + n % each] - mean;
        squares = fmaf(off, off, squares);
    }
    float spread = 1.0f / sqrtf(together(squares, room) / (float)size + 1e-5f);
    for (u32 n = threadIdx.x; n < size; n += 128) {
        u64 at = (u64)(n / each) * channels + n % each;
        u32 c = first + n % each;
        to[at] = (here[at] - mean) * spread * weights[c] + weights[channels + c];
    }
    if (threadIdx.x == 0) {
        kept[2 * (blockIdx.y * groups + blockIdx.x)] = mean;
        kept[2 * (blockIdx.y * groups + blockIdx.x) + 1] = spread;
    }
}

// The way back, and the image's own gradient of weights and biases.
extern "C" __global__ void __launch_bounds__(128) level_back(
    const float* x, const float* weights, const float* kept, const float* d, float* out, float* own_gradient,
    u32 channels, u32 pixels, u32 groups, u64 apart)
{
    __shared__ float room[128];
    u32 each = channels / groups, size = each * pixels, first = blockIdx.x * each;
    u64 begin = (u64)blockIdx.y * pixels * channels + first;
    float mean = kept[2 * (blockIdx.y * groups + blockIdx.x)], spread = kept[2 * (blockIdx.y * groups + blockIdx.x) + 1];
    float sum = 0.0f, with = 0.0f;
    for (u32 n = threadIdx.x; n < size; n += 128) {
        u64 at = begin + (u64)(n / each) * channels + n % each;
        float h = (x[at] - mean) * spread, g = weights[first + n % each] * d[at];
        sum += g;
        with = fmaf(g, h, with);
    }
    sum = together(sum, room) / (float)size;
    with = together(with, room) / (float)size;
    for (u32 n = threadIdx.x; n < size; n += 128) {
        u64 at = begin + (u64)(n / each) * channels + n % each;
        float h = (x[at] - mean) * spread, g = weights[first + n % each] * d[at];
        out[at] = spread * (g - sum - h * with);
    }
    for (u32 c = 0; c < each; c++) {
        float weight = 0.0f, bias = 0.0f;
        for (u32 n = threadIdx.x; n < pixels; n += 128) {
            u64 at = begin + (u64)n * channels + c;
            weight = fmaf((x[at] - mean) * spread, d[at], weight);
            bias += d[at];
        }
        weight = together(weight, room);
        bias = together(bias, room);
        if (threadIdx.x == 0) {
            own_gradient[blockIdx.y * apart + first + c] = weight;
            own_gradient[blockIdx.y * apart + channels + first + c] = bias;
        }
    }
}

// Numbers below zero become smaller.
extern "C" __global__ void leak(const float* x, float* out, float slope, u64 count) {
    u64 n = (u64)blockIdx.x * 256 + threadIdx.x;
    if (n < count) out[n] = x[n] < 0.0f ? slope * x[n] : x[n];
}

extern "C" __global__ void leak_back(const float* x, const float* d, float* out, float slope, u64 count) {
    u64 n = (u64)blockIdx.x * 256 + threadIdx.x;
    if (n < count) out[n] = x[n] < 0.0f ? slope * d[n] : d[n];
}

// What a residual block makes of its input, and the input.
extern "C" __global__ void add(const float* x, const float* skip, float* out, u64 count) {
    u64 n = (u64)blockIdx.x * 256 + threadIdx.x;
    if (n < count) out[n] = x[n] + skip[n];
}

// Cross-entropy: probabilities less 1 at the label, and the loss; a thread for each image.
extern "C" __global__ void entropy(
    const u32* picked, const u8* labels, const float* scores, float* d, float* loss, u32 classes, u32 count)
{
    u32 n = blockIdx.x * 64 + threadIdx.x;
    if (n >= count) return;
    const float* s = scores + (u64)n * classes;
    float* to = d + (u64)n * classes;
    u32 label = labels[picked[n]];
    float most = s[0], sum = 0.0f;
    for (u32 j = 1; j < classes; j++) most = s[j] > most ? s[j] : most;
    for (u32 j = 0; j < classes; j++) sum += to[j] = expf(s[j] - most);
    for (u32 j = 0; j < classes; j++) to[j] = to[j] / sum - (j == label ? 1.0f : 0.0f);
    loss[n] = logf(sum) + most - s[label];
}

// Squared lengths of pieces of an image's gradient; 128 pieces of each.
extern "C" __global__ void __launch_bounds__(128) lengths(const float* gradients, float* squares, u32 parameters) {
    __shared__ float room[128];
    const float* here = gradients + (u64)blockIdx.y * parameters;
    float sum = 0.0f;
    for (u32 n = blockIdx.x * 128 + threadIdx.x; n < parameters; n += 128 * 128) sum = fmaf(here[n], here[n], sum);
    sum = together(sum, room);
    if (threadIdx.x == 0) squares[blockIdx.y * 128 + blockIdx.x] = sum;
}

// What each image's gradient is multiplied by; nothing is left of what has no length.
extern "C" __global__ void __launch_bounds__(128) shorten(const float* squares, float bound, float* factor) {
    __shared__ float room[128];
    float length = sqrtf(together(squares[blockIdx.y * 128 + threadIdx.x], room));
    float most = (float)(MARGIN * (double)bound);
    // Written so that what is not a number has no factor.
    if (threadIdx.x == 0) factor[blockIdx.y] = bound == INFINITY || length <= most ? 1.0f : length < INFINITY ? most / length : 0.0f;
}

// The sum of shortened gradients is added to what is there. What has no factor is left out, whatever it holds.
extern "C" __global__ void gather(const float* gradients, const float* factor, float* sum, u32 parameters, u32 count) {
    u32 n = blockIdx.x * 256 + threadIdx.x;
    if (n >= parameters) return;
    float all = sum[n];
    for (u32 image = 0; image < count; image++)
        if (factor[image] != 0.0f) all = fmaf(factor[image], gradients[(u64)image * parameters + n], all);
    sum[n] = all;
}
