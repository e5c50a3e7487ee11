#!/usr/bin/perl
# A custom op: silu(x) times a gate, which many models compute between two products,
# as one op of a graph: perl silu_gate.pl
use strict;
use warnings;
use Runcible;

my $silu_gate = Runcible::CustomOp->new(
    name => 'silu_gate',
    # All three have the same shape, whatever it is.
    signature => 'x F32 [...], gate F32 [...] -> y F32 [...]',
    compute   => sub {
        my ($x, $gate) = @_;
        return [map { $x->[$_] / (1 + exp -$x->[$_]) * $gate->[$_] } 0 .. $#$x];
    },
);

my $backend = Runcible::Backend->new('cpu');
my $x       = Runcible::Tensor->new([-1, 0, 1, 2],   $backend);
my $gate    = Runcible::Tensor->new([2, 2, 2, 0.5], $backend);
# Recorded once, to be run with any numbers of these shapes.
my $graph = Runcible::Graph->record($backend, [$x, $gate], sub {
    my ($given, $by) = @_;
    my ($gated) = $silu_gate->compute([$given, $by]);
    return $gated + $given;
});
my ($sum) = $graph->run([$x, $gate]);
printf "%.4f\n", $_ for @{ $sum->array };
