package Runcible::Graph;

use strict;
use warnings;
use parent 'Runcible::Handle';
use Runcible::Arguments qw(proxy_of refuse);
use Runcible::CustomOp ();
use Runcible::Report;
use Runcible::Tensor;

=head1 NAME

Runcible::Graph - a recorded function of tensors, run as a whole many times

=head1 SYNOPSIS

    my $graph = Runcible::Graph->record($backend, [$x], sub {
        my ($x) = @_;
        return ($x * $scale + $offset)->relu;
    });
    my ($y) = $graph->run([$x2]);

=head1 DESCRIPTION

Chains of element-wise ops are computed in one pass over memory, and so are products
with the bias and the function that follow. The numbers are the same as those of the
single ops.

=head2 record(backend, inputs, function)

Calls the function with tensors that stand for the inputs and have the types and shapes
of those in the array. The ops of the function are recorded and not run. The tensors
that it returns are the outputs, and each run returns new ones; other tensors that it
uses are constants. An op throws if shapes or types do not fit.

=cut

sub record {
    my ($class, $backend, $inputs, $function) = @_;
    my $graph = Runcible::Native::graph_begin(
        proxy_of($backend, 'Runcible::Backend', 'backend'));
    ref $function eq 'CODE'
        or refuse('what records must be a function, not ' . ($function // 'undef'));
    my @stand_ins = map { _stand_in($graph, $_) } _each($inputs);
    my @outputs   = $function->(@stand_ins);
    Runcible::Native::graph_finish($graph, _list('an output', @outputs));
    $_->close for @stand_ins;
    return $class->of($graph, outputs => scalar @outputs);
}

sub _each {
    my ($inputs) = @_;
    ref $inputs eq 'ARRAY'
        or refuse('inputs must be a reference to an array of tensors, not '
            . ($inputs // 'undef'));
    return @$inputs;
}

sub _stand_in {
    my ($graph, $like) = @_;
    my $own = proxy_of($like, 'Runcible::Tensor', 'an input');
    return Runcible::Tensor->of(Runcible::Native::graph_input($graph,
        Runcible::Native::tensor_dtype($own), Runcible::Native::tensor_shape($own)));
}

sub _list {
    my ($what, @tensors) = @_;
    my $list = Runcible::Native::new_tensor_list();
    Runcible::Native::tensor_list_add($list, proxy_of($_, 'Runcible::Tensor', $what))
        for @tensors;
    return $list;
}

=head2 run(inputs, deadline => ...)

Returns the outputs for these inputs: an array of as many inputs, with the types and
shapes that were recorded. C<deadline> is in seconds. In scalar context returns the
first output.

=head2 run_async(inputs, deadline => ..., loop => ...)

The same on an IO::Async event loop, by default C<IO::Async::Loop-E<gt>new>: returns a
L<Future> of the outputs. Cancelling it cancels all runs of the graph.

=cut

sub run {
    my ($self, $inputs, %options) = @_;
    my $deadline = _deadline(delete $options{deadline});
    refuse("there is no option '$_', but deadline") for sort keys %options;
    my $made = Runcible::Native::new_tensor_list();
    my $list = _list('an input', _each($inputs));
    Runcible::CustomOp::serving(sub {
        Runcible::Native::graph_compute_serving($self->proxy, $list, $deadline, $made);
    });
    my @outputs = map { Runcible::Tensor->of(Runcible::Native::tensor_of_list($made, $_)) }
        0 .. $self->{outputs} - 1;
    return wantarray ? @outputs : $outputs[0];
}

sub run_async {
    my ($self, $inputs, %options) = @_;
    require Runcible::Pending;
    my $deadline = _deadline(delete $options{deadline});
    my ($proxy, $count) = ($self->proxy, $self->{outputs});
    my $given = _list('an input', _each($inputs));
    return Runcible::Pending->future(
        \%options,
        sub {
            my ($box, $key) = @_;
            return Runcible::Native::graph_run_start($box, $key, $proxy, $given, $deadline);
        },
        sub {
            my ($call) = @_;
            return map { Runcible::Tensor->of(Runcible::Native::pending_call_tensor($call, $_)) }
                0 .. $count - 1;
        });
}

sub _deadline { return Runcible::Arguments::milliseconds($_[0], 'deadline') // 0 }

# :api: methods rc_graph

1;
