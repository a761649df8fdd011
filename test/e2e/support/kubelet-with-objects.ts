/** The kubelet as bin/kubelet runs it, with objects from the folder that OBJECTS names in place of an API server. */
import { flushCompileCache } from 'node:module'
import { hostname } from 'node:os'
import process from 'node:process'
import { ShutdownError } from '../../../src/base/async/abort-errors.ts'
import { systemClock } from '../../../src/base/async/clock.ts'
import { loadConfiguration } from '../../../src/model/config/load-configuration.ts'
import { hostConfigFiles } from '../../../src/system/files/host-config-files.ts'
import { readMachine } from '../../../src/system/machine/read-machine.ts'
import { runAgentProcess } from '../../../src/agent/run-agent-process.ts'
import { createLogger, createVerbosity } from '../../../src/base/telemetry/create-logger.ts'
import { createObjectFolder } from './object-folder.ts'

const machine = readMachine()
const files = hostConfigFiles
const command = await loadConfiguration(process.argv.slice(2), { files, machine: { ...machine, hostname: hostname() } })
if (command.kind !== 'run') throw new Error('Cannot run: expected flags of an agent')
const controller = new AbortController()
process.once('SIGTERM', () => controller.abort(new ShutdownError('SIGTERM')))
const log = createLogger({
  format: 'text',
  verbosity: 2,
  clock: systemClock,
  pid: process.pid,
  write: (line) => process.stderr.write(line),
})
await runAgentProcess(
  {
    settings: command.settings,
    machine,
    objects: createObjectFolder(process.env['OBJECTS'] ?? ''),
    log,
    verbosity: createVerbosity(2),
    clock: systemClock,
    environment: process.env,
    workingDirectory: process.cwd(),
    leave: () => controller.abort(new ShutdownError('leave')),
    giveUp: (error) => controller.abort(error),
    write: (text) => process.stdout.write(text),
    // One that is killed writes nothing at its end.
    onReady: () => flushCompileCache(),
  },
  controller.signal,
).catch((error: unknown) => {
  if (!controller.signal.aborted) throw error
})
process.exit(0)
