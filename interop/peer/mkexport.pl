#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Fills a directory with the files that the peer exports. Deterministic: byte i of every
# "pattern" file is byte (i mod 4) of the big-endian 32-bit word ((i div 4) * 2654435761) mod 2^32.
# So the contents can be computed by a test: int w = (i >>> 2) * 0x9E3779B1; b = w >>> (24 - 8*(i&3)).
use strict; use warnings; use utf8;
my $d = shift or die "usage: mkexport.pl DIR\n";
sub pattern {
  my ($name, $len) = @_;
  open my $f, '>:raw', "$d/$name" or die "$name: $!";
  my ($w, $left) = (0, $len);
  while ($left > 0) {
    my $n = 16384;                              # words a block
    my $b = pack 'N*', map { ($_ * 2654435761) & 0xffffffff } $w .. $w + $n - 1;
    $w += $n;
    $b = substr $b, 0, $left if length $b > $left;
    print $f $b; $left -= length $b;
  }
  close $f;
}
my $u = "n\x{ef}\x{7b6c}\x{1f600}"; utf8::encode($u);   # i-diaeresis, a CJK character, an emoji
mkdir "$d/$_" for qw(deep big rw perm), $u;
pattern('empty', 0); pattern('one', 1); pattern('k', 1000); pattern('four', 4096);
pattern('m1', 1 << 20); pattern('m64', 64 << 20);
pattern("$u/d\xc3\xa9j\xc3\xa0.txt", 77);
my $p = 'deep';
for my $i (1 .. 20) { $p .= "/d$i"; mkdir "$d/$p"; }
pattern("$p/bottom", 123);
for my $i (0 .. 1999) {
  my $n = sprintf 'entry-%04d-with-a-name-of-some-length', $i;
  open my $f, '>', "$d/big/$n" or die; close $f;
}
symlink 'm1', "$d/link-to-m1"; symlink 'deep/d1/d2', "$d/link-to-dir";
symlink '/no/such/target', "$d/link-dangling"; symlink 'x' x 1000, "$d/link-long";
link "$d/k", "$d/k-hardlink";
open my $s, '>', "$d/sparse" or die; truncate $s, 8 << 20; seek $s, 4 << 20, 0; print $s 'middle'; close $s;
open my $t, '>', "$d/perm/secret" or die; print $t "secret\n"; close $t; chmod 0600, "$d/perm/secret";
open my $e, '>', "$d/perm/run.sh" or die; print $e "#!/bin/sh\necho hi\n"; close $e; chmod 0755, "$d/perm/run.sh";
chmod 01777, "$d/rw"; chmod 0755, $d;
system "cd '$d' && find . -type f ! -path './big/*' ! -name 'SHA256SUMS*' | LC_ALL=C sort | xargs -d '\\n' sha256sum > SHA256SUMS.new && mv SHA256SUMS.new SHA256SUMS";
# fixed times: 2020-01-02 03:04:05 UTC
system "find '$d' -print0 | xargs -0 touch -h -d '2020-01-02 03:04:05 UTC'";
