/** The levels below the Java virtual machine: the netfilter module over generic netlink, BPF programs through libbpf. */
@NullMarked
package org.tamanoir.kernel;

import org.jspecify.annotations.NullMarked;
