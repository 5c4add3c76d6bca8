/** The Linux Virtual Server's table, through ipvsadm: what is there, what is wanted, the difference. */
@NullMarked
package org.tamanoir.cluster.lvs;

import org.jspecify.annotations.NullMarked;
