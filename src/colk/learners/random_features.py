"""Random Fourier features and averaged stochastic gradient descent."""

from colk.averaging import Averaging, PolyakRuppert
from colk.features import RandomFourierFeatures
from colk.kernels import Kernel
from colk.learners.featured import FeatureLearner
from colk.losses import Loss
from colk.schedules import Rate

__all__ = ["RandomFeatureSGD"]


class RandomFeatureSGD(FeatureLearner):
    """Averaged stochastic gradient descent on random Fourier features of a kernel.

    w ← (1 − αλ)w − αℓ'(wᵀφ(x), y)φ(x), with D features φ drawn once.

    Parameters
    ----------
    kernel : Kernel
        A kernel of the difference u − v, see `RandomFourierFeatures`.
    loss : Loss
        The loss ℓ.
    n_components : int
        D.
    step_size : float or PowerDecay
        α.
    regularization : float
        λ.
    seed : int
        Seed of the features.
    gradient_bound, averaging, batch_size, n_outputs, trace
        As in `COLK`.

    References
    ----------
    Rahimi, Recht, "Random features for large-scale kernel machines", NIPS 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.kernels import Gaussian
    >>> from colk.learners import RandomFeatureSGD
    >>> X = np.random.default_rng(0).random((4000, 1))
    >>> y = np.sin(6 * X[:, 0])
    >>> learner = RandomFeatureSGD(Gaussian(0.2), n_components=100, step_size=0.2).learn(X, y)
    >>> bool(np.abs(learner.predict(X) - y).mean() < 0.05)
    True
    """

    def __init__(
        self,
        kernel: Kernel,
        loss: Loss | None = None,
        n_components: int = 100,
        step_size: Rate = 0.1,
        regularization: float = 1e-6,
        seed: int = 0,
        gradient_bound: float = 10.0,
        averaging: Averaging | None = PolyakRuppert(growth=3.0),  # noqa: B008, it is frozen
        batch_size: int = 1,
        n_outputs: int | None = None,
        trace: bool = False,
    ) -> None:
        self.kernel = kernel
        self.seed = seed
        super().__init__(
            RandomFourierFeatures(kernel, n_components, seed),
            loss=loss,
            step_size=step_size,
            regularization=regularization,
            gradient_bound=gradient_bound,
            averaging=averaging,
            batch_size=batch_size,
            n_outputs=n_outputs,
            trace=trace,
        )

    @property
    def n_components(self) -> int:
        """Number D of features φ_i."""
        return int(self.features.n_components)
