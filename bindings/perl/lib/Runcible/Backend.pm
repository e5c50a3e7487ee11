package Runcible::Backend;

use strict;
use warnings;
use parent 'Runcible::Handle';
use Scalar::Util 'blessed';
use Runcible::Arguments qw(proxy_of refuse set_options);
use Runcible::Report;
use Runcible::Tenant;

=head1 NAME

Runcible::Backend - a device

=for header rc_backend

=head2 new(spec, options...)

=for header rc_backend_open

=for header rc_backend_options

The option C<tenant> is the L<Runcible::Tenant> to which the backend belongs, by default a
separate one without limits.

=cut

sub new {
    my ($class, $spec, %options) = @_;
    my $made = _options(%options);
    return $class->of(Runcible::Native::backend_open($spec, $made));
}

sub _options {
    my (%options) = @_;
    my $made = set_options('backend_options', \%options, others => ['tenant']);
    Runcible::Native::backend_options_set_tenant($made,
        proxy_of($options{tenant}, 'Runcible::Tenant', 'tenant'))
        if defined $options{tenant};
    return $made;
}

=head2 open_async(spec, options...)

The same on an IO::Async event loop, which goes on: returns a L<Future> of the backend;
cancelling it cancels the opening. More options: C<loop>, by default
C<IO::Async::Loop-E<gt>new>, and C<progress>, a function that receives the fraction
done, 0 to 1, several times a second. If it dies, the opening is cancelled, and the
future fails with its exception.

=cut

sub open_async {
    my ($class, $spec, %options) = @_;
    require Runcible::Pending;
    my %own;
    @own{qw(loop progress)} = delete @options{qw(loop progress)};
    my $made = _options(%options);
    return Runcible::Pending->future(
        \%own,
        sub {
            my ($box, $key) = @_;
            return Runcible::Native::backend_open_start($box, $key, $spec, $made);
        },
        sub { $class->of(Runcible::Native::pending_call_backend($_[0])) });
}

=head2 switch(spec, options...)

=for header rc_backend_switch

=for header rc_backend_switch_options

=cut

sub switch {
    my ($self, $spec, %options) = @_;
    my $made = set_options('backend_switch_options', \%options);
    Runcible::Native::backend_switch($self->proxy, $spec, $made);
    return;
}

=head2 switch_async(spec, options...)

The same on an IO::Async event loop, which goes on: returns a L<Future> of nothing. More
options: C<loop> and C<progress>, as for C<open_async>. If it ends early, the backend
stays on its device.

=cut

sub switch_async {
    my ($self, $spec, %options) = @_;
    require Runcible::Pending;
    my %own;
    @own{qw(loop progress)} = delete @options{qw(loop progress)};
    my $made  = set_options('backend_switch_options', \%options);
    my $proxy = $self->proxy;
    return Runcible::Pending->future(
        \%own,
        sub {
            my ($box, $key) = @_;
            return Runcible::Native::backend_switch_start($box, $key, $proxy, $spec, $made);
        },
        sub { return });
}

# Returns a backend itself, or opens the one that a string names.
sub from {
    my ($class, $backend) = @_;
    return $backend if blessed $backend && $backend->isa($class);
    refuse("backend must be a $class or a string, not $backend") if ref $backend;
    return $class->new($backend);
}

# :api: methods rc_backend

1;
