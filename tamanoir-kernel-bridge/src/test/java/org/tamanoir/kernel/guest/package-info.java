/** Tests that run in a virtual machine, where the netfilter module can be loaded, and what takes them there. */
@NullMarked
package org.tamanoir.kernel.guest;

import org.jspecify.annotations.NullMarked;
