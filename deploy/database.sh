#!/bin/sh
# Makes the role and the database of Commonplace, as an administrator of PostgreSQL; run once.
# The role may not see rows past row-level security, and may not create extensions: the extension is made here.
set -eu
export PGUSER="${POSTGRES_USER:-postgres}"
psql --set ON_ERROR_STOP=1 --set password="${COMMONPLACE_PASSWORD:-}" --dbname postgres <<'SQL'
CREATE ROLE commonplace LOGIN NOSUPERUSER NOBYPASSRLS;
SELECT format('ALTER ROLE commonplace PASSWORD %L', :'password') WHERE :'password' <> '' \gexec
CREATE DATABASE commonplace OWNER commonplace;
SQL
psql --set ON_ERROR_STOP=1 --dbname commonplace --command 'CREATE EXTENSION IF NOT EXISTS vector'
