# git.sh: a repository with history, packed, cloned and searched; the same objects come out.
. "$(dirname "$0")/same.sh"
need git
export HOME="$PWD" GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a \
	GIT_COMMITTER_EMAIL=a@b GIT_AUTHOR_DATE='2024-01-01T00:00:00Z' GIT_COMMITTER_DATE='2024-01-01T00:00:00Z'
git config --global init.defaultBranch main
git config --global gc.auto 0
git config --global pack.threads 1

cat >history.sh <<'END'
rm -rf origin copy
git init -q origin && cd origin || exit 1
for n in 1 2 3 4 5 6; do
	seq $((n * 100)) $((n * 3000)) >numbers
	seq $n >small.$n
	git add -A && git commit -q -m "commit $n" || exit 1
done
git gc -q --aggressive && git fsck --strict 2>&1
cd .. && git clone -q origin copy && cd copy && git log --stat --oneline && git rev-parse HEAD HEAD^{tree}
git grep -c 777 && git diff HEAD~3 | cksum
git log -S12345 --oneline | wc -l
git cat-file -e 0000 2>/dev/null; echo "status $?"
END
same history sh history.sh
holds history.full '.run.processes > 20'
