import { checkStart } from '../system/machine/check-start.ts'
import { applyKernelSettings } from '../system/machine/apply-kernel-settings.ts'
import type { Clock } from '../base/async/clock.ts'
import { TaskGroup } from '../base/async/task-group.ts'
import type { Settings } from '../model/config/load-configuration.ts'
import { lockFile, watchLockContention } from '../system/processes/lock-file.ts'
import { createSystemdNotifier, parseWatchdog } from '../system/processes/notify-systemd.ts'
import { raiseOpenFiles, readAnonymousMemory, setOomScoreAdj } from '../system/processes/own-process.ts'
import { readIdleCpu } from '../system/machine/read-idle-cpu.ts'
import type { MachineInfo } from '../system/machine/read-machine.ts'
import { collectGarbage } from '../system/processes/collect-garbage.ts'
import { createPodFiles } from '../system/directories/pod-files.ts'
import { removeTornCniResults } from '../system/network/remove-torn-cni-results.ts'
import { runKubelet } from './kubelet.ts'
import { measureLoopDelay } from '../metrics/scrape/measure-loop-delay.ts'
import { createEdges } from './this-machine.ts'
import type { ObjectApi } from '../pods/objects/object-api.ts'
import { trimMalloc } from '../system/processes/trim-malloc.ts'
import { unmapCode } from '../system/processes/unmap-code.ts'
import { writeMounterResolver } from '../pods/volumes/write-mounter-resolver.ts'
import type { Verbosity } from '../base/telemetry/create-logger.ts'
import type { Logger } from '../base/telemetry/logger.ts'

export interface AgentProcessDeps {
  readonly settings: Settings
  readonly machine: MachineInfo
  /** Where objects that pods refer to are read; undefined on a node without an API. */
  readonly objects: ObjectApi | undefined
  readonly log: Logger
  /** Of the log. */
  readonly verbosity: Verbosity
  readonly clock: Clock
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly workingDirectory: string
  /** Ends the agent from inside. */
  readonly leave: () => void
  /** The same, for a fault that only a new start can fix. */
  readonly giveUp: (error: Error) => void
  readonly write: (text: string) => void
  /** Called once when everything is up. */
  readonly onReady: () => void
}

// In the time that systemd waits: one that is late, or left out for a moment of bad health, is no reason to be killed.
const PINGS = 4

/** The agent as a process of this machine: its lock, its limits, its word to systemd, around the kubelet itself. */
export async function runAgentProcess(deps: AgentProcessDeps, signal: AbortSignal): Promise<number> {
  const { settings, machine, log, clock } = deps
  const { config, flags } = settings
  for (const warning of settings.warnings) log.warn(warning)
  if (settings.notYetHonoured.length > 0) {
    log.warn('these fields are kept, but have no effect until their feature is there', {
      fields: settings.notYetHonoured,
    })
  }
  log.info('starting', {
    node: settings.nodeName,
    version: settings.version,
    withoutApi: settings.withoutApi,
    rootDir: flags.rootDir,
  })
  checkStart(settings, machine)
  const watchdogMs = parseWatchdog(deps.environment)

  await using group = new TaskGroup(signal)
  if (flags.lockFile !== '') {
    log.info('waiting for the lock', { lockFile: flags.lockFile })
    const lock = await lockFile(flags.lockFile, group.signal)
    if (flags.exitOnLockContention) {
      const sleep: Clock['sleep'] = (ms, sleepSignal) => clock.sleep(ms, sleepSignal)
      const contention = watchLockContention({ lock, sleep }, group.signal)
      group.run('lock contention', async () => {
        await contention()
        log.info('another process wants the lock, leaving', { lockFile: flags.lockFile })
        deps.leave()
      })
    }
  }
  applyKernelSettings({ settings, machine, log })
  reportLimits(log, 'cannot set the own oom score', setOomScoreAdj(config.oomScoreAdj))
  const openFiles = raiseOpenFiles(config.maxOpenFiles).then(({ limit, problem }) => {
    reportLimits(log, 'cannot raise the limit of open files', problem)
    return limit
  })

  // Not awaited: most nodes have none, and a stop that failed on one is tried again.
  group.run('torn CNI results', (s) => removeTornCniResults({ clock, log }, s))
  if (flags.experimentalMounterPath !== '') {
    await writeMounterResolver({ settings, files: createPodFiles({ rootDirectory: flags.rootDir }), log })
  }
  const given = {
    settings,
    machine,
    objects: deps.objects,
    openFiles,
    clock,
    log,
    random: () => Math.random(),
    loopDelay: measureLoopDelay(),
    memory: {
      idleCpuMs: readIdleCpu,
      residentBytes: readAnonymousMemory,
      collectGarbage,
      trimMalloc,
      unmapCode,
    },
    giveUp: deps.giveUp,
    verbosity: deps.verbosity,
    environment: deps.environment,
    workingDirectory: deps.workingDirectory,
    write: deps.write,
    onReady: async (isHealthy: () => boolean) => {
      deps.onReady()
      if (deps.environment['NOTIFY_SOCKET'] === undefined) return
      const notifySystemd = createSystemdNotifier(deps.environment)
      await notifySystemd('READY=1')
      if (watchdogMs !== undefined) {
        group.run('watchdog', async (s) => {
          for (;;) {
            await clock.sleep(watchdogMs / PINGS, s)
            if (isHealthy()) await notifySystemd('WATCHDOG=1')
          }
        })
      }
    },
  }
  return await runKubelet({ ...given, ...createEdges(given) }, group.signal)
}

function reportLimits(log: Logger, what: string, problem: string | undefined): void {
  if (problem !== undefined) log.warn(what, { problem })
}
