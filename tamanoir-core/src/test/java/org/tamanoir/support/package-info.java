/** What tests of all modules share: tiers, network namespaces, the virtual machine, waiting with a bound. */
package org.tamanoir.support;
