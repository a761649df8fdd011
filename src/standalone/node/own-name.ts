// The executable has its files in itself (tools/package/executable-folder.ts); npm makes a command of an installed package.
const INSTALLED = /^\/proc\/self\/exe\/|\/node_modules\//

/** How users call this command: in a checkout by its path. */
export const OWN_NAME = INSTALLED.test(import.meta.filename) ? 'deckhand' : 'bin/deckhand'
