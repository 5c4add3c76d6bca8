/** The repository of services: its server, publishing to it, mirrors of it; and the HTTP listener of all servers. */
@NullMarked
package org.tamanoir.repository;

import org.jspecify.annotations.NullMarked;
