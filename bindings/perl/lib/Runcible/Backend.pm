package Runcible::Backend;

use strict;
use warnings;
use parent 'Runcible::Handle';
use JSON::PP ();
use Scalar::Util 'blessed';
use Runcible::Arguments qw(milliseconds refuse set_options);
use Runcible::Report;

=head1 NAME

Runcible::Backend - a device

=for header rc_backend

=head2 new(spec, options...)

C<timeout> is the library's C<timeout_ms>, in seconds.

=for header rc_backend_open

=for header rc_backend_options

=cut

sub new {
    my ($class, $spec, %options) = @_;
    my $made = set_options(
        'backend_options', \%options,
        names   => [qw(required_memory memory_limit threads max_requests)],
        flags   => [qw(strict profile)],
        others  => ['timeout'],
        members => { timeout_ms => scalar milliseconds($options{timeout}, 'timeout') },
    );
    return $class->of(Runcible::Native::backend_open($spec, $made));
}

# A backend itself, or one that is opened by what it is called.
sub from {
    my ($class, $backend) = @_;
    return $backend if blessed $backend && $backend->isa($class);
    refuse("backend must be a $class or a string, not $backend") if ref $backend;
    return $class->new($backend);
}

=head2 explain

As a reference to a hash.

=for header rc_backend_explain

=cut

sub explain { _json(Runcible::Native::backend_explain($_[0]->proxy)) }

=head2 device

A Runcible::Report::Device.

=for header rc_backend_device

=cut

sub device {
    my ($self) = @_;
    my $report = Runcible::Native::new_device_report();
    my $proxy  = $self->proxy;
    Runcible::Native::backend_device($proxy, $report);
    return Runcible::Report->device($report);
}

=head2 usage

A Runcible::Report::Usage.

=for header rc_backend_usage_report

=cut

sub usage {
    my ($self) = @_;
    my $report = Runcible::Native::new_backend_usage_report();
    Runcible::Native::backend_usage($self->proxy, $report);
    return Runcible::Report->copied('Usage', 'backend_usage_report', $report);
}

=head2 trace

As a reference to a hash.

=for header rc_backend_trace

=cut

sub trace { _json(Runcible::Native::backend_trace($_[0]->proxy)) }

sub _json { JSON::PP->new->decode($_[0]) }

1;
