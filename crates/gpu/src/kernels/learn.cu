// Rounds of DSGD, DSGT and DiNNO for many agents at once: what they hear, their noise, their steps. The same operations in the same order as
// `protocol::consensus`, each rounded by itself: from the same gradients come the same bits.

// What an agent does in a round. The same fields in the same order as `Turn` of the host.
struct Turn {
    u32 method;         // 0: DSGD, 1: DSGT, 2: DiNNO
    u32 rule;           // 0: plain, 1: momentum, 2: Adam
    u32 afresh;         // moments begin anew
    u32 last;           // the last step of the iteration
    u32 idle;           // nothing is done
    u32 at_mixed;       // DSGD takes its gradient at the mixed model
    u32 key[6];         // the noise: seed, agent, draw
    u32 kept;           // earlier noises that this one is correlated with
    u32 most;           // as many are kept; 0: noises are independent
    u32 slot;           // where this one is kept, of those places
    u32 past;           // where they begin, in vectors
    u32 diagonals;      // where the band's diagonals begin
    float share;        // one over the mean size of a lot
    float scale;        // of the noise; 0: none
    float rate, decay, rho, spring;
    float beta, fresh, square, more, epsilon, size, root;
};

// Every agent's own and her neighbours' numbers, mixed.
extern "C" __global__ void hear(
    const Turn* turns, const u32* rows, const u32* neighbours, const float* weights,
    const float* model, float* tracker, float* mixed, float* pull, const float* moment)
{
    u32 n = blockIdx.x * 256 + threadIdx.x, agent = blockIdx.y;
    if (n >= PARAMETERS) return;
    u64 at = (u64)agent * PARAMETERS + n;
    const Turn* turn = turns + agent;
    if (turn->idle) return;
    float own = model[at];
    if (turn->method == 2) {
        float apart = 0.0f;
        for (u32 j = rows[agent]; j < rows[agent + 1]; j++)
            apart += own - model[(u64)neighbours[j] * PARAMETERS + n];
        float dual = tracker[at] + turn->rho * apart;
        tracker[at] = dual;
        pull[at] = dual + turn->rho * apart;
        mixed[at] = own;
        return;
    }
    float sum = own;
    for (u32 j = rows[agent]; j < rows[agent + 1]; j++)
        sum += weights[j] * (model[(u64)neighbours[j] * PARAMETERS + n] - own);
    if (turn->method == 1) {
        float y = tracker[at], towards = y;
        for (u32 j = rows[agent]; j < rows[agent + 1]; j++)
            towards += weights[j] * (tracker[(u64)neighbours[j] * PARAMETERS + n] - y);
        sum -= turn->rate * towards;
        pull[at] = towards - moment[at];
    }
    mixed[at] = sum;
}

__device__ __forceinline__ u32 turned(u32 x, int by) { return (x << by) | (x >> (32 - by)); }

#define QUARTER(a, b, c, d) \
    a += b; d = turned(d ^ a, 16); c += d; b = turned(b ^ c, 12); \
    a += b; d = turned(d ^ a, 8); c += d; b = turned(b ^ c, 7);

// A block of ChaCha8 under the key seed || agent || draw || "sv-noise", of the stream "card".
__device__ __forceinline__ void block_of(const u32* key, u32 number, u32* x) {
    u32 from[16] = {0x61707865u, 0x3320646eu, 0x79622d32u, 0x6b206574u, key[0], key[1], key[2], key[3],
                    key[4], key[5], 0x6e2d7673u, 0x6573696fu, number, 0u, 0x63617264u, 0u};
#pragma unroll
    for (int i = 0; i < 16; i++) x[i] = from[i];
#pragma unroll
    for (int round = 0; round < 4; round++) {
        QUARTER(x[0], x[4], x[8], x[12]) QUARTER(x[1], x[5], x[9], x[13])
        QUARTER(x[2], x[6], x[10], x[14]) QUARTER(x[3], x[7], x[11], x[15])
        QUARTER(x[0], x[5], x[10], x[15]) QUARTER(x[1], x[6], x[11], x[12])
        QUARTER(x[2], x[7], x[8], x[13]) QUARTER(x[3], x[4], x[9], x[14])
    }
#pragma unroll
    for (int i = 0; i < 16; i++) x[i] += from[i];
}

// Two independent Gaussians of two words, by Box and Muller: none is beyond 6.77 standard deviations.
__device__ __forceinline__ void gaussians(u32 one, u32 two, float* out) {
    float far = sqrtf(-2.0f * logf(fmaf((float)one, 2.3283064365386963e-10f, 1.1641532182693481e-10f)));
    float sine, cosine;
    sincospif((float)(int)two * 4.6566128730773926e-10f, &sine, &cosine);
    out[0] = far * cosine;
    out[1] = far * sine;
}

#define EACH 16         // numbers of a thread, a block of the generator
#define TEAM 128        // threads: number n of a vector is word (n % 2048) / 128 of block (n / 2048) 128 + n % 128

// Noise alone, to be looked at.
extern "C" __global__ void noise(const Turn* turns, float* out) {
    u32 first = blockIdx.x * (TEAM * EACH) + threadIdx.x;
    u32 words[16];
    float g[EACH];
    block_of(turns[blockIdx.y].key, blockIdx.x * TEAM + threadIdx.x, words);
#pragma unroll
    for (int i = 0; i < EACH; i += 2) gaussians(words[i], words[i + 1], g + i);
#pragma unroll
    for (int i = 0; i < EACH; i++)
        if (first + i * TEAM < PARAMETERS) out[(u64)blockIdx.y * PARAMETERS + first + i * TEAM] = g[i];
}

// A step of x along g; `first` and `second` are the moments, begun afresh where that is asked for.
__device__ __forceinline__ float stepped(const Turn* turn, float x, float g, float* first, float* second) {
    if (turn->rule == 0) return x - turn->rate * g;
    float m = turn->afresh ? 0.0f : *first;
    if (turn->rule == 1) {
        m = turn->beta * m + g;
        *first = m;
        return x - turn->rate * m;
    }
    float v = turn->afresh ? 0.0f : *second;
    m = turn->beta * m + turn->fresh * g;
    v = turn->square * v + turn->more * g * g;
    *first = m;
    *second = v;
    return x - turn->size * m / (sqrtf(v) * turn->root + turn->epsilon);
}

// Noise of which the last ones are partly taken back: of fresh noise z it is (z - sum_k c_k noise_(t-k)) / c_0. It is kept.
__device__ __forceinline__ float correlated(const Turn* turn, float* past, const float* diagonals, u32 n, float noise) {
    float* kept = past + (u64)turn->past * PARAMETERS + n;
    const float* c = diagonals + turn->diagonals;
    for (u32 k = 1; k <= turn->kept; k++)
        noise -= c[k] * kept[(u64)((turn->slot + turn->most - k) % turn->most) * PARAMETERS];
    noise /= c[0];
    kept[(u64)turn->slot * PARAMETERS] = noise;
    return noise;
}

// Every agent's gradient under its noise, and her step. `moment` is DSGT's last gradient, or an optimiser's first moment.
extern "C" __global__ void __launch_bounds__(TEAM) step(
    const Turn* turns, const float* sums, float* model, float* tracker, float* mixed, const float* pull,
    float* moment, float* second, float* past, const float* diagonals, u32* diverged)
{
    const Turn* turn = turns + blockIdx.y;
    if (turn->idle) return;
    u32 begin = blockIdx.x * (TEAM * EACH) + threadIdx.x;
    float g[EACH];
    if (turn->scale != 0.0f) {
        u32 words[16];
        block_of(turn->key, blockIdx.x * TEAM + threadIdx.x, words);
#pragma unroll
        for (int i = 0; i < EACH; i += 2) gaussians(words[i], words[i + 1], g + i);
    }
    bool finite = true;
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        u32 n = begin + i * TEAM;
        if (n >= PARAMETERS) continue;
        u64 at = (u64)blockIdx.y * PARAMETERS + n;
        float gradient = sums[at] * turn->share;
        if (turn->scale != 0.0f) {
            float noise = turn->scale * g[i];
            if (turn->most > 0) noise = correlated(turn, past, diagonals, n, noise);
            gradient += noise;
        }
        float x = mixed[at];
        if (turn->decay != 0.0f)
            gradient += turn->decay * (turn->method == 0 && !turn->at_mixed ? model[at] : x);
        if (turn->method == 1) {
            float y = pull[at] + gradient;
            tracker[at] = y;
            moment[at] = gradient;
            finite = finite && fabsf(y) < INFINITY;
        } else {
            if (turn->method == 2) gradient += pull[at] + turn->spring * (x - model[at]);
            x = stepped(turn, x, gradient, moment + at, second + at);
            if (!turn->last) mixed[at] = x;
        }
        if (turn->last) model[at] = x;
        finite = finite && fabsf(x) < INFINITY;
    }
    if (!finite) diverged[blockIdx.y] = 1;
}
