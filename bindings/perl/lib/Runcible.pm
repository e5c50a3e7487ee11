package Runcible;

use strict;
use warnings;
use Runcible::Arguments ();
use Runcible::Backend;
use Runcible::CustomOp;
use Runcible::Error;
use Runcible::Graph;
use Runcible::Model;
use Runcible::Native;
use Runcible::Pinned;
use Runcible::Report;
use Runcible::Session;
use Runcible::Tenant;
use Runcible::Tensor;
use Runcible::Tokenizer;

our $VERSION = '0';    # run.sh sets the version of the headers

=head1 NAME

Runcible - language models in Perl

=head1 SYNOPSIS

    use Runcible;
    binmode STDOUT, ':encoding(UTF-8)';

    my $model   = Runcible::Model->new('builtin:fable');
    my $session = $model->session;
    my $tale    = $session->generate('Once upon a time', max_tokens => 200);
    while (my $piece = <$tale>) { print $piece }

=head1 DESCRIPTION

See L<Runcible::Backend>, L<Runcible::Model>, L<Runcible::Session>,
L<Runcible::Generation>, L<Runcible::Stream>, L<Runcible::Chat>,
L<Runcible::Grammar>, L<Runcible::Tenant>, L<Runcible::Tensor>, L<Runcible::Graph>,
L<Runcible::CustomOp> and L<Runcible::Error>. Options are pairs of names and values;
options that are left out or undef have the default of the library. Times are in seconds.
Strings are of characters.

=head1 FUNCTIONS

=head2 Runcible::discover

Returns a reference to an array of Runcible::Report::Device; in list context also the
device that "auto" would choose, such as "cpu:0".

=for header rc_discover

=cut

sub discover {
    my ($devices, $automatic) = _discovered(Runcible::Native::discover());
    return wantarray ? ($devices, $automatic) : $devices;
}

sub _discovered {
    my ($found) = @_;
    my @devices = map {
        my $i = $_;
        Runcible::Report->told('Device',
            sub { Runcible::Native::device_list_get($found, $i, @_) });
    } 0 .. Runcible::Native::device_list_count($found) - 1;
    return (\@devices, Runcible::Native::device_list_automatic($found));
}

=head2 Runcible::discover_async(options...)

The same on an IO::Async event loop, which goes on: returns a L<Future> of both, which
can be cancelled. Options: C<loop> and C<progress>, see L<Runcible::Backend/open_async>.

=cut

sub discover_async {
    my (%options) = @_;
    require Runcible::Pending;
    return Runcible::Pending->future(
        \%options, \&Runcible::Native::discover_start,
        sub { _discovered(Runcible::Native::pending_call_devices($_[0])) });
}

=head2 Runcible::plan(path, backend, options...)

Returns a Runcible::Report::Plan; the options are those of a model.

=for header rc_model_plan

=cut

sub plan {
    my ($path, $backend, %options) = @_;
    my $made   = Runcible::Model->options(%options);
    my $opened = Runcible::Backend->from($backend);
    return Runcible::Report->plan(
        Runcible::Native::model_plan(
            Runcible::Arguments::path($path), $made, $opened->proxy));
}

=head2 Runcible::metrics()

Returns a snapshot of all tenants of the process that still exist, in the form of
L<Runcible::Tenant/metrics>. Tenants with the same name are added up.

=head2 Runcible::open_metrics()

Returns the same numbers in the text format of OpenMetrics.

=cut

sub metrics {
    return Runcible::Tenant->_json(
        Runcible::Native::all_tenant_metrics($Runcible::Native::METRICS_JSON));
}

sub open_metrics {
    return Runcible::Native::all_tenant_metrics($Runcible::Native::METRICS_OPENMETRICS);
}

=head2 Runcible::verify(path)

=for header rc_model_verify

=cut

sub verify {
    my ($path) = @_;
    Runcible::Native::model_verify(Runcible::Arguments::path($path));
    return;
}

1;
