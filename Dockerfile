# docker build -t pcc-onnx . && docker run --rm -v "$PWD:/work" pcc-onnx model.onnx -o split/
FROM debian:12-slim AS build
COPY . /pcc
WORKDIR /pcc
RUN tools/setup.sh --user --no-python \
    && cmake -S . -B build/package -G Ninja -DCMAKE_BUILD_TYPE=Release \
    && cmake --build build/package \
    && cpack --config build/package/CPackConfig.cmake -G DEB -B /packages

FROM debian:12-slim
COPY --from=build /packages/*.deb /packages/
# What Debian 12 has of graphviz is what is wanted.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends /packages/*.deb graphviz \
    && rm -rf /var/lib/apt/lists/* /packages \
    && useradd --uid 1000 --create-home pcc
USER 1000
WORKDIR /work
ENTRYPOINT ["pcc"]
