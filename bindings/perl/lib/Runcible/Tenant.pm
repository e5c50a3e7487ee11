package Runcible::Tenant;

use strict;
use warnings;
use parent 'Runcible::Handle';
use Runcible::Arguments 'set_options';
use Runcible::JSONText 'json_text';
use Runcible::Report;

=head1 NAME

Runcible::Tenant - a party that shares devices by weight, has limits, and gets a bill

=head1 SYNOPSIS

    my $tenant  = Runcible::Tenant->new(name => 'acme', weight => 2);
    my $backend = Runcible::Backend->new('cpu', tenant => $tenant);
    print $tenant->usage->generated_tokens, "\n";

=head1 DESCRIPTION

=for header rc_tenant

=head2 new(options...)

=for header rc_tenant_create

=for header rc_tenant_options

=cut

sub new {
    my ($class, %options) = @_;
    my $made = set_options('tenant_options', \%options);
    return $class->of(Runcible::Native::tenant_create($made));
}

=head2 change(options...)

The options are those of C<new>.

=for header rc_tenant_change

=cut

sub change {
    my ($self, %options) = @_;
    my $made = set_options('tenant_options', \%options);
    Runcible::Native::tenant_change($self->proxy, $made);
    return;
}

=head2 metrics

Returns a reference to a hash.

=for header RC_METRICS_JSON

=cut

sub metrics {
    my ($self) = @_;
    return $self->_json(
        Runcible::Native::tenant_metrics($self->proxy, $Runcible::Native::METRICS_JSON));
}

=head2 open_metrics

=for header RC_METRICS_OPENMETRICS

=cut

sub open_metrics {
    my ($self) = @_;
    return Runcible::Native::tenant_metrics($self->proxy,
        $Runcible::Native::METRICS_OPENMETRICS);
}

=head2 bill(prices, since)

Returns a reference to a hash. The arguments are references to hashes, or JSON; C<since>
may be left out.

=for header rc_tenant_bill

=cut

sub bill {
    my ($self, $prices, $since) = @_;
    return $self->_json(
        Runcible::Native::tenant_bill(
            $self->proxy, json_text($prices, 'prices'), json_text($since, 'since')));
}

# :api: methods rc_tenant

1;
