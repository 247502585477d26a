# One image for the trainer's worker, the policy server for CPUs, and the reporter:
# `docker run IMAGE conductor_trainer.worker …`, `… conductor_trainer.policy_server …`, `… conductor_trainer.report …`.
# PyTorch's wheels include the GPU libraries; to use a GPU, the host only needs NVIDIA's container toolkit.

FROM python:3.11.14-slim-bookworm AS build
# Installs wheels by their hashes, each in its locked version.
RUN python -m venv /opt/trainer
ENV PATH=/opt/trainer/bin:$PATH PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /build
COPY trainer/requirements.lock ./
RUN pip install --only-binary=:all: --require-hashes --no-deps --requirement requirements.lock
COPY trainer/src /opt/trainer/src

FROM python:3.11.14-slim-bookworm
LABEL org.opencontainers.image.version="0.4.0"
LABEL org.opencontainers.image.title="temporal-conductor-trainer" org.opencontainers.image.licenses="Apache-2.0"
# One thread: a second one slows tiny models down, and a single one always sums in the same order.
ENV PATH=/opt/trainer/bin:$PATH PYTHONPATH=/opt/trainer/src PYTHONDONTWRITEBYTECODE=1 \
    OMP_NUM_THREADS=1 HF_HUB_OFFLINE=1
RUN useradd --uid 1000 --create-home trainer \
    && mkdir /artifacts /checkpoints /exports /models \
    && chown trainer /artifacts /checkpoints /exports
COPY --from=build /opt/trainer /opt/trainer
# A number, so that an orchestrator can verify that it is not root.
USER 1000
WORKDIR /home/trainer
# Weights are never part of the image: mount base models at /models; trained checkpoints are stored at /checkpoints.
VOLUME ["/artifacts", "/checkpoints", "/exports"]
ENTRYPOINT ["python", "-m"]
CMD ["conductor_trainer.worker", "--help"]
