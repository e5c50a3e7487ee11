package Runcible::Native;

# The functions and constants that SWIG generates from the C headers, for the other
# modules here. None of them is stable.
use strict;
use warnings;
use Scalar::Util 'reftype';
use XSLoader;

XSLoader::load('Runcible::Native');

# Options and reports are hashes that SWIG ties to a pointer of the same class; a
# new thread gets none of them. Handles release themselves, see proxies.h.
for my $kind (map {/^delete_(.*)/} keys %Runcible::Native::) {
    no strict 'refs';
    my $delete = \&{"Runcible::Native::delete_$kind"};
    delete $Runcible::Native::{"delete_$kind"};
    next unless Runcible::Native->can("new_$kind");
    # Lists have no prefix in C.
    for my $class ("_p_rc_$kind", "_p_$kind") {
        *{"${class}::DESTROY"}    = sub { $delete->($_[0]) if reftype $_[0] eq 'HASH' };
        *{"${class}::CLONE_SKIP"} = sub {1};
    }
}

1;
