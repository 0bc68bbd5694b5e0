"""The parts of C sources that are the same for all models, or for all of one link."""

HEAD = """/* KIND_HERE, in C99: nothing but the standard library is needed (-lm).

FUNCTIONS_HERE
   double model_code(int feature, const char *text);
   double model_code_of(int feature, double number);
       return what stands for a category in x: NaN if it is missing (NULL, NaN) or was not there at
       fit. Texts are UTF-8.

   x has model_n_features numbers, NaN where one is missing, in this order:

FEATURES_HERE

   No function allocates memory or keeps anything: they may be called by many threads at once. */

#include <math.h>
#include <stdint.h>
#include <string.h>

"""

CODES = """

double model_code(int feature, const char *text)
{
    long low = 0, high, middle;
    const char *const *own;
    if (feature < 0 || feature >= N_FEATURES || !text)
        return NAN;
    high = n_categories[feature];
    own = texts + first_category[feature];
    while (low < high) {
        int order;
        middle = low + (high - low) / 2;
        if (!own[middle])
            return NAN;
        order = strcmp(own[middle], text);
        if (order == 0)
            return (double)middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NAN;
}

double model_code_of(int feature, double number)
{
    long low = 0, high, middle;
    const double *own;
    if (feature < 0 || feature >= N_FEATURES || isnan(number))
        return NAN;
    high = n_categories[feature];
    own = numbers + first_category[feature];
    if (high > 0 && texts[first_category[feature]])
        return NAN;
    while (low < high) {
        middle = low + (high - low) / 2;
        if (own[middle] == number)
            return (double)middle;
        if (own[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return NAN;
}
"""

SUMS = """
static const double *leaf_of(int tree, const double *x)
{
    long node = roots[tree];
    while (feature_of[node] >= 0) {
        int feature = feature_of[node], left;
        double cell = x[feature];
        if (isnan(cell)) {
            left = missing_left[node];
        } else if (n_categories[feature] == 0) {
            left = cell <= split_at[node];
        } else if (!(cell >= 0 && cell < (double)n_categories[feature])) {
            left = missing_left[node];
        } else {
            long code = (long)cell;
            left = (int)(words[(long)split_at[node] + code / 64] >> (code % 64) & 1);
        }
        node = left ? node + 1 : right_of[node];
    }
    return leaves + (size_t)right_of[node] * WIDTH;
}
"""

_ADDED = """
static void add_up(const double *x, double *sums)
{
    int tree, k, output = 0;
    for (k = 0; k < N_OUTPUTS; k++)
        sums[k] = start[k];
    for (tree = 0; tree < N_TREES; tree++) {
        const double *said = leaf_of(tree, x);
        for (k = 0; k < WIDTH; k++) {
            sums[output] += said[k];
            output = output + 1 < N_OUTPUTS ? output + 1 : 0;
        }
    }
}
"""

NUMBERS = (
    _ADDED
    + """
void model_predict(const double *x, double *out)
{
    double scores[N_OUTPUTS];
    int k;
    add_up(x, scores);
    for (k = 0; k < N_OUTPUTS; k++)
        scores[k] /= DIVISOR;
SHOWN_BY
}
"""
)

MEDIAN = """
void model_predict(const double *x, double *out)
{
    double said[N_TREES], own[N_TREES], total = 0.0, below = 0.0;
    int tree, place;
    for (tree = 0; tree < N_TREES; tree++) { /* in order; of equals the first is first */
        double value = *leaf_of(tree, x);
        for (place = tree; place > 0 && said[place - 1] > value; place--) {
            said[place] = said[place - 1];
            own[place] = own[place - 1];
        }
        said[place] = value;
        own[place] = weights[tree];
    }
    for (place = 0; place < N_TREES; place++)
        total += own[place];
    for (place = 0; place < N_TREES; place++) {
        below += own[place];
        if (below >= 0.5 * total)
            break;
    }
    *out = said[place < N_TREES ? place : N_TREES - 1];
}
"""

CLASSES = (
    _ADDED
    + """
static int highest(const double *numbers_of, int n)
{
    int k, best = 0;
    for (k = 1; k < n; k++)
        if (numbers_of[k] > numbers_of[best])
            best = k;
    return best;
}

static int tell(const double *x, double *shown)
{
    double sums[N_OUTPUTS], scores[N_CLASSES + 1];
    int k;
    add_up(x, sums);
    for (k = 0; k < N_OUTPUTS; k++)
        scores[k] = sums[k] / DIVISOR;
SHOWN_BY
    (void)highest;
    return LABEL_BY;
}

int model_predict(const double *x)
{
    double shown[N_CLASSES];
    return tell(x, shown);
}

void model_predict_proba(const double *x, double *out)
{
    (void)tell(x, out);
}
"""
)

SCORED = (
    _ADDED
    + """
double model_decision_function(const double *x)
{
    double sums[N_OUTPUTS];
    add_up(x, sums);
    return sums[0] / DIVISOR;
}

int model_predict(const double *x)
{
    double sums[N_OUTPUTS];
    add_up(x, sums);
    return LABEL_BY;
}
"""
)

_ODDS = """    {
        double total = 0.0, top = scores[highest(scores, N_CLASSES)];
        for (k = 0; k < N_CLASSES; k++)
            total += shown[k] = exp(scores[k] - top);
        for (k = 0; k < N_CLASSES; k++)
            shown[k] /= total;
    }"""

_EACH = """    for (k = 0; k < N_CLASSES; k++)
        shown[k] = scores[k];"""

# What becomes of scores: of numbers by "identity", "exp", "sorted", of classes by the others.
SHOWN = {
    "identity": "    for (k = 0; k < N_OUTPUTS; k++)\n        out[k] = scores[k];",
    "exp": "    for (k = 0; k < N_OUTPUTS; k++)\n        out[k] = exp(scores[k]);",
    "sorted": """    for (k = 0; k < N_OUTPUTS; k++) {
        int place = k;
        for (; place > 0 && out[place - 1] > scores[k]; place--)
            out[place] = out[place - 1];
        out[place] = scores[k];
    }""",
    "each": _EACH,
    "logistic": "    scores[1] = scores[0];\n    scores[0] = 0.0;\n" + _ODDS,
    "softmax": _ODDS,
}
