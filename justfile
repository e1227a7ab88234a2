# The daily commands; `just` lists them.
default:
    @just --list

# What CI runs
ci:
    bash .ci/run

# Format and lint
lint:
    cargo fmt --all
    cargo clippy --workspace --all-targets -- -D warnings

test:
    cargo test --workspace

# Review changed snapshots (cargo install cargo-insta)
snapshots:
    cargo insta review

# Install the servers that nobody here wrote, and test against them
real:
    scripts/real-servers target/real-servers
    WALLFACER_REAL_SERVERS=target/real-servers cargo test -p wallfacer-core --test real_servers

# Ratios against a reference in the same run
bench:
    cargo bench --workspace
    cargo run --release --manifest-path bench/schema-values/Cargo.toml --target-dir target/schema-values
