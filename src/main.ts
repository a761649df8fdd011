/** The kubelet's command: flags, signals, exit codes. The only reader of arguments and environment. */
import { flushCompileCache } from 'node:module'
import { hostname } from 'node:os'
import process from 'node:process'
import { ShutdownError } from './base/async/abort-errors.ts'
import { systemClock } from './base/async/clock.ts'
import { ConfigError, FlagError, formatConfigError } from './model/config/config-error.ts'
import { parseQuantity, quantityValue } from './model/resources/quantity.ts'
import { loadConfiguration } from './model/config/load-configuration.ts'
import type { CommandLine, Settings } from './model/config/load-configuration.ts'
import { hostConfigFiles } from './system/files/host-config-files.ts'
import { endProcess } from './system/processes/end-process.ts'
import { findBuiltSource } from './system/processes/find-built-source.ts'
import { nameProcess } from './system/processes/own-process.ts'
import { readMachine } from './system/machine/read-machine.ts'
import type { MachineInfo } from './system/machine/read-machine.ts'
import { KubeconfigError } from './protocols/kube-api/kubeconfig/kubeconfig.ts'
import { runAgentProcess } from './agent/run-agent-process.ts'
import { createLogOutput } from './base/telemetry/create-log-output.ts'
import { createLogger, createVerbosity } from './base/telemetry/create-logger.ts'
import { errorText } from './base/telemetry/error-text.ts'

// An agent that is asked to stop is gone within a second, whatever it waits for. The pods stay.
const SHUTDOWN_LIMIT_MS = 900
// Until then what is loaded after the pods is loaded: the cache is written once more, as an agent that is killed writes nothing.
const LATE_MODULES_MS = 10_000

nameProcess('kubelet')
// Of a careful shell it may be 077: then containers of other users could not enter what is made for them. What is secret has a mode of its own.
process.umask(0o022)
// Pods are worth more than our log: a reader that went away does not end the agent.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
void main(process.argv.slice(2)).then(endProcess)

async function main(argv: readonly string[]): Promise<number> {
  const machine = readMachine()
  const command = await parse(argv, machine)
  if (command === undefined) return 1
  if (command.kind !== 'run') {
    process.stdout.write(command.text.endsWith('\n') ? command.text : `${command.text}\n`)
    return 0
  }
  return await run(command.settings, machine)
}

async function parse(argv: readonly string[], machine: MachineInfo): Promise<CommandLine | undefined> {
  try {
    return await loadConfiguration(argv, { files: hostConfigFiles, machine: { ...machine, hostname: hostname() } })
  } catch (error) {
    const known = error instanceof ConfigError || error instanceof FlagError
    process.stderr.write(`${known ? formatConfigError(error) : errorText(error)}\n`)
    return undefined
  }
}

async function run(settings: Settings, machine: MachineInfo): Promise<number> {
  const { logging } = settings.config
  const verbosity = createVerbosity(logging.verbosity)
  const format = logging.format === 'json' ? 'json' : 'text'
  const { splitStream, infoBufferSize } = logging.options[format]
  const output = createLogOutput({
    split: splitStream,
    bufferBytes: infoBufferSize === '' ? 0 : Number(quantityValue(parseQuantity(infoBufferSize))),
    flushMs: logging.flushFrequency,
    writeInfo: (text) => process.stdout.write(text),
    writeError: (text) => process.stderr.write(text),
    clock: systemClock,
  })
  const log = createLogger({
    format,
    verbosity,
    modules: logging.vmodule,
    findSource: findBuiltSource,
    clock: systemClock,
    pid: process.pid,
    write: (line, level) => output.write(line, level),
  })
  const controller = new AbortController()
  let fault: Error | undefined
  const leave = (name: NodeJS.Signals) => {
    log.info('leaving, pods keep running', { signal: name })
    controller.abort(new ShutdownError(name))
    setTimeout(() => {
      output.flush()
      endProcess(0)
    }, SHUTDOWN_LIMIT_MS).unref()
  }
  process.once('SIGTERM', leave)
  process.once('SIGINT', leave)
  try {
    return await runAgentProcess(
      {
        settings,
        machine,
        objects: undefined,
        log,
        verbosity,
        clock: systemClock,
        environment: process.env,
        workingDirectory: process.cwd(),
        leave: () => controller.abort(new ShutdownError('leave')),
        giveUp: (error) => {
          fault = error
          controller.abort(error)
        },
        write: (text) => process.stdout.write(text),
        onReady: () => {
          flushCompileCache()
          setTimeout(flushCompileCache, LATE_MODULES_MS).unref()
        },
      },
      controller.signal,
    )
  } catch (error) {
    if (controller.signal.aborted && fault === undefined) return 0
    if (error instanceof KubeconfigError) {
      process.stderr.write(`${error.message}\n`)
      return 1
    }
    log.error('agent failed', { error: fault ?? error })
    return 1
  } finally {
    output.flush()
  }
}
