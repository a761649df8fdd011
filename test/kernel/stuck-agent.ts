/** A process that waits for a file system for ever, to be killed by a test: its arguments are a launcher for its children and a path. */
import process from 'node:process'
import { systemClock } from '../../src/base/async/clock.ts'
import { createGuardedFiles } from '../../src/system/guarded/create-guarded-files.ts'
import { findDeathSignal } from '../../src/system/processes/find-death-signal.ts'
import { silentLogger } from '../../src/base/telemetry/silent-logger.ts'

const never = new AbortController().signal
const [path = '', ...namespace] = process.argv.slice(2)
const findLauncher = async () => [...namespace, ...(await findDeathSignal(systemClock, never))]
using files = createGuardedFiles({ clock: systemClock, log: silentLogger, findLauncher })
await files.kindOf(path, never)
