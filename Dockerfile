# wallfacer with the runtimes that most servers need, for people on macOS and Windows: a server can be confined and watched
# only on Linux.
#
#   docker build -t wallfacer .
#   docker run --rm -it --security-opt seccomp=unconfined --security-opt systempaths=unconfined \
#     --cap-add SYS_PTRACE -v "$PWD":/work wallfacer check -- npx -y some-mcp-server
#
# The options let wallfacer build its own sandbox inside; the server has none of the rights that they give.

FROM rust:1-bookworm AS build
WORKDIR /source
COPY . .
RUN cargo build --release --locked --package mcp-wallfacer

FROM node:22-bookworm-slim
RUN apt-get update \
 && apt-get install --yes --no-install-recommends ca-certificates git python3 python3-pip python3-venv \
 && pip install --break-system-packages --no-cache-dir uv pipx \
 && rm -rf /var/lib/apt/lists/*
COPY --from=build /source/target/release/wallfacer /usr/local/bin/wallfacer
# Not as the administrator: what an ordinary user cannot do, the server cannot either.
USER node
WORKDIR /work
ENTRYPOINT ["wallfacer"]
