/**
 * What active code and the node ask of the levels below the Java virtual machine: the kernel and the network interface.
 * Only ports stand here; what implements them is another module.
 */
@NullMarked
package org.tamanoir.nodeos;

import org.jspecify.annotations.NullMarked;
