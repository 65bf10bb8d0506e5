"""Projections, approximations of kernels, and clusters."""

import numpy as np

from colk._stored import Count, Either, Field, Object, OneOf, Optional, Text
from colk.persistence._fitted.checks import WIDEST
from colk.persistence._fitted.fields import Estimator, Numbers, Plain, Real, Report, Sparse, Whole
from colk.persistence._fitted.state import State, state

__all__ = ["PROJECTIONS"]

_WIDTH: dict[str, Field] = {"_n_features_out": Whole(1, same="k")}
_MATRIX = Numbers("k", "p")
_SPECTRUM: dict[str, Field] = {
    "components_": _MATRIX,
    "explained_variance_": Numbers("k"),
    "explained_variance_ratio_": Numbers("k", finite=False),
    "singular_values_": Numbers("k"),
}
_RANDOM_FEATURES = state(
    {"random_weights_": Numbers("p", "k"), "random_offset_": Numbers("k"), **_WIDTH},
    {"_gamma": Real()},
)
_CENTRES: dict[str, Field] = {
    "cluster_centers_": _MATRIX,
    "inertia_": Real(),
    "_tol": Real(),
    "_n_init": Whole(),
    "_n_threads": Count(1, 4096),  # compiled code starts them without a check
    **_WIDTH,
}
_LABELS: dict[str, Field] = {"labels_": Numbers("n", kinds="iu", at_least=0, below="k")}

PROJECTIONS: dict[str, State] = {
    # projections
    "decomposition.FactorAnalysis": state(
        {
            "mean_": Numbers("p"),
            "components_": _MATRIX,
            "noise_variance_": Numbers("p"),
            "loglike_": Report(),
            "n_iter_": Whole(),
        }
    ),
    "decomposition.FastICA": state(
        {
            "components_": _MATRIX,
            "mixing_": Numbers("p", "k"),
            "_unmixing": Numbers("k", "k"),
            "n_iter_": Whole(),
        },
        {"mean_": Numbers("p"), "whitening_": Numbers("k", "p")},
    ),
    "decomposition.IncrementalPCA": state(
        {
            **_SPECTRUM,
            "mean_": Numbers("p"),
            "var_": Numbers("p"),
            "noise_variance_": Real(),
            "n_components_": Whole(1, same="k"),
            "n_samples_seen_": Real(),
        },
        {"batch_size_": Whole()},
    ),
    "decomposition.KernelPCA": state(
        {
            "X_fit_": Either(Numbers("n", "p"), Sparse("n", "p")),
            "_centerer": Estimator("KernelCenterer"),
            "eigenvalues_": Numbers("k"),
            "eigenvectors_": Numbers("n", "k"),
        },
        {
            "gamma_": Optional(Real()),
            "dual_coef_": Numbers("n", "p"),
            "X_transformed_fit_": Numbers("n", "k"),
        },
    ),
    "decomposition.PCA": state(
        {
            **_SPECTRUM,
            "mean_": Numbers("p"),
            "noise_variance_": Real(),
            "n_components_": Whole(1, same="k"),
            "n_samples_": Whole(),
        },
        {"_fit_svd_solver": Text()},
    ),
    "decomposition.TruncatedSVD": state(_SPECTRUM),
    "discriminant_analysis.LinearDiscriminantAnalysis": state(
        {
            "classes_": Plain("c"),
            "priors_": Numbers("c"),
            "means_": Numbers("c", "p"),
            "coef_": Numbers("t", "p"),
            "intercept_": Numbers("t"),
        },
        {
            "_max_components": Whole(),
            "covariance_": Numbers("p", "p"),
            "explained_variance_ratio_": Report(),
            "scalings_": Numbers("p", "s"),
            "xbar_": Numbers("p"),
            **_WIDTH,
        },
    ),
    "neighbors.NeighborhoodComponentsAnalysis": state(
        {"components_": _MATRIX, "n_iter_": Whole()},
        {"random_state_": Object(np.random.RandomState)},
    ),
    "random_projection.GaussianRandomProjection": state(
        {"components_": _MATRIX, "n_components_": Whole(1, same="k"), **_WIDTH},
        {"inverse_components_": Numbers("p", "k")},
    ),
    "random_projection.SparseRandomProjection": state(
        {
            "components_": Either(_MATRIX, Sparse("k", "p")),
            "n_components_": Whole(1, same="k"),
            "density_": Real(),
            **_WIDTH,
        },
        {"inverse_components_": Numbers("p", "k")},
    ),
    # kernels and clusters
    "cluster.FeatureAgglomeration": state(
        {
            "n_clusters_": Whole(1, same="k"),
            "labels_": Numbers("p", kinds="iu", at_least=0, below="k"),
            "n_leaves_": Whole(),
            "n_connected_components_": Whole(),
            "children_": Numbers("merges", 2, kinds="iu"),
            **_WIDTH,
        },
        {"distances_": Report()},
    ),
    "cluster.KMeans": state(
        {**_CENTRES, **_LABELS, "n_iter_": Whole(), "_algorithm": OneOf("lloyd", "elkan")}
    ),
    "cluster.MiniBatchKMeans": state(
        {
            **_CENTRES,
            "n_steps_": Whole(),
            "_counts": Numbers("k"),
            "_n_since_last_reassign": Whole(),
        },
        {
            **_LABELS,
            "n_iter_": Whole(),
            "_batch_size": Whole(),
            "_init_size": Whole(),
            "_ewa_inertia": Report(),
            "_ewa_inertia_min": Report(),
            "_no_improvement": Whole(),
            "_random_state": Object(np.random.RandomState),
        },
    ),
    "kernel_approximation.AdditiveChi2Sampler": state(
        {}, parameters={"sample_steps": Count(1, 1000)}
    ),
    "kernel_approximation.Nystroem": state(
        {
            "components_": Either(_MATRIX, Sparse("k", "p")),
            "normalization_": Numbers("k", "k"),
            "component_indices_": Numbers("k", kinds="iu", at_least=0),
            **_WIDTH,
        }
    ),
    "kernel_approximation.PolynomialCountSketch": state(
        {
            "indexHash_": Numbers("degree", "p", kinds="iu", at_least=0, below="k"),
            "bitHash_": Numbers("degree", "p", kinds="iu"),
            **_WIDTH,
        },
        parameters={"n_components": Whole(1, WIDEST, same="k"), "degree": Whole(1, same="degree")},
    ),
    "kernel_approximation.RBFSampler": _RANDOM_FEATURES,
    "kernel_approximation.SkewedChi2Sampler": _RANDOM_FEATURES,
}
