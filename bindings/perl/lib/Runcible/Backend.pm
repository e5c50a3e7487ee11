package Runcible::Backend;

use strict;
use warnings;
use parent 'Runcible::Handle';
use Scalar::Util 'blessed';
use Runcible::Arguments qw(refuse set_options);
use Runcible::Report;

=head1 NAME

Runcible::Backend - a device

=for header rc_backend

=head2 new(spec, options...)

=for header rc_backend_open

=for header rc_backend_options

=cut

sub new {
    my ($class, $spec, %options) = @_;
    my $made = set_options('backend_options', \%options);
    return $class->of(Runcible::Native::backend_open($spec, $made));
}

# A backend itself, or one that is opened by what it is called.
sub from {
    my ($class, $backend) = @_;
    return $backend if blessed $backend && $backend->isa($class);
    refuse("backend must be a $class or a string, not $backend") if ref $backend;
    return $class->new($backend);
}

# :api: methods rc_backend

1;
