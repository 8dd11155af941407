# The command line and the Python package in one image:
#
#   docker build -t eyeroof .
#   docker run --rm -v "$PWD:/work" eyeroof exam resnet50 --on a100-sxm-40gb
FROM debian:12-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends \
        g++ cmake ninja-build python3-dev python3-venv python3-pip libfmt-dev libyaml-cpp-dev \
        nlohmann-json3-dev libcli11-dev libeigen3-dev zlib1g-dev libsqlite3-dev libre2-dev libutf8proc-dev libyajl-dev \
        libxgboost-dev
COPY . /sources
RUN sh /sources/python/make_wheel.sh /wheels

FROM debian:12-slim
RUN apt-get update && apt-get install -y --no-install-recommends python3-venv && rm -rf /var/lib/apt/lists/*
COPY --from=build /wheels /wheels
RUN python3 -m venv /opt/eyeroof && /opt/eyeroof/bin/pip install --no-index --no-deps /wheels/*.whl
ENV PATH=/opt/eyeroof/bin:$PATH
WORKDIR /work
ENTRYPOINT ["eyeroof"]
CMD ["--help"]
