import { isExecutable } from '../../base/builtin/executable-files.ts'

// npm makes a command of an installed package.
const isPackage = import.meta.filename.includes('/node_modules/')

/** How users call this command: in a checkout by its path. */
export const OWN_NAME = isExecutable || isPackage ? 'deckhand' : 'bin/deckhand'
