"""Nominal 80 % intervals of measured / predicted, as (low, high), valid for small samples."""
import math

TAIL, NORMAL = 0.1, 1.2816  # z(0.9)
DAY_TO_DAY = 0.1  # ln, of one GPU and library measured another day (to 90 %)
STUDENT = [3.078, 1.886, 1.638, 1.533, 1.476, 1.440, 1.415]  # t(0.9, n); more differ from the last by a few percent
# What constants lie off on a GPU that they have not seen, ln, and how many GPUs it counts as: docs/gpu-model.md.
USUAL_OFFSET, USUAL_GPUS = 0.14, 3.0


def at_rank(ascending, rank):
    """Order statistic, counted from one, between the neighbors where it is not whole."""
    position = min(max(rank - 1, 0.0), len(ascending) - 1.0)
    below = int(position)
    part = position - below
    return ascending[below] * (1 - part) + ascending[min(below + 1, len(ascending) - 1)] * part


def median(values):
    values = sorted(values)
    return (values[(len(values) - 1) // 2] + values[len(values) // 2]) / 2


def middle(ascending):
    return at_rank(ascending, 0.5 * (len(ascending) + 1))


def student(n):
    """t(0.9, n) / z(0.9) sqrt(1 + 1/n), between whole n linearly."""
    whole = lambda k: STUDENT[min(max(k, 1) - 1, len(STUDENT) - 1)]  # noqa: E731
    part = n - int(n)
    return (whole(int(n)) * (1 - part) + whole(int(n) + 1) * part) / NORMAL * math.sqrt(1 + 1 / n)


def of_rows(ratios):
    """For one more row of the same kind and GPU: order statistics at 0.1 (n + 1) and 0.9 (n + 1) (split conformal
    prediction), as `hw calibrate` has them."""
    ratios = sorted(ratios)
    return at_rank(ratios, TAIL * (len(ratios) + 1)), at_rank(ratios, (1 - TAIL) * (len(ratios) + 1))


def another_day(ratios):
    """The same for rows of another day: what one GPU and library moves from day to day is added, squared, to the
    distances from the median."""
    low, high = of_rows(ratios)
    center = middle(sorted(map(math.log, ratios)))
    return (math.exp(center - math.hypot(center - math.log(low), DAY_TO_DAY)),
            math.exp(center + math.hypot(math.log(high) - center, DAY_TO_DAY)))


def offset_and_scatter(gpus, but=None):
    """In ln; `but`: a GPU that is not counted."""
    scatter, squares, total, seen = [], USUAL_GPUS * USUAL_OFFSET * USUAL_OFFSET, 0.0, USUAL_GPUS
    for g, logs in enumerate(gpus):
        if g != but:
            offset = middle(logs)
            seen, squares, total = seen + 1, squares + offset * offset, total + offset
            scatter += [logs[i * len(logs) // 500] - offset for i in range(500)]
    scatter.sort()
    center = total / seen
    offset = student(seen) * math.sqrt(squares / seen - center * center)
    own = math.hypot(NORMAL * offset, DAY_TO_DAY)
    if not scatter:
        return center - own, center + own
    return (center - math.hypot(at_rank(scatter, TAIL * len(scatter)), own),
            center + math.hypot(at_rank(scatter, (1 - TAIL) * len(scatter)), own))


def of_gpus(gpus):
    """For a GPU that is not among those. Each GPU's rows, in ln, are its own offset (their median) and a scatter about
    it. Offsets are counted about zero; few GPUs tell their size badly, so it is drawn towards the usual one as if
    USUAL_GPUS more had been seen, and counts with t(0.9, n) sqrt(1 + 1/n) standard deviations. Every GPU weighs the
    same. Then each GPU's rows are scored by the band of the others, in half widths (cross-conformal prediction), and
    the width is multiplied by the 80 % quantile of the scores to the power n / (n + USUAL_GPUS)."""
    logs = [sorted(map(math.log, ratios)) for ratios in gpus]
    low, high = offset_and_scatter(logs)
    center, width = 0.5 * (low + high), 1.0
    if len(logs) > 1:
        scores = []
        for g, of_gpu in enumerate(logs):
            one = offset_and_scatter(logs, g)
            mid = 0.5 * (one[0] + one[1])
            scores += [abs(of_gpu[i * len(of_gpu) // 100] - mid) / (one[1] - mid) for i in range(100)]
        scores.sort()
        width = at_rank(scores, (1 - 2 * TAIL) * len(scores)) ** (len(logs) / (len(logs) + USUAL_GPUS))
    return math.exp(center - width * (center - low)), math.exp(center + width * (high - center))


def doubled(band):
    """Twice as wide in ln: for layers of a kind, or GPUs of a vendor, that nothing was measured of."""
    return min(band[0] * band[0], band[0]), max(band[1] * band[1], band[1])
