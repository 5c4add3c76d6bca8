/** The dashboard: files of a page that shows what the API answers. */
@NullMarked
package org.tamanoir.node.ui;

import org.jspecify.annotations.NullMarked;
