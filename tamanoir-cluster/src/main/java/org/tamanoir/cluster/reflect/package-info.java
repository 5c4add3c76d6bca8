/**
 * The reflector: what a member of a session sends goes to all its other members. {@link org.tamanoir.cluster.reflect.Session}
 * and what it is made of know neither sockets nor clocks; {@link org.tamanoir.cluster.reflect.Reflector} has both.
 */
@NullMarked
package org.tamanoir.cluster.reflect;

import org.jspecify.annotations.NullMarked;
