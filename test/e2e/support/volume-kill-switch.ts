/**
 * Loaded into an agent by "node --import", before the agent itself: besides the calls to the runtime, every child process, every guarded
 * operation and every change of files for the volumes of a pod is a step at which the agent may die. A pod is known by its UID, which is
 * part of all paths that belong to it.
 */
import childProcess from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { constants, readlinkSync } from 'node:fs'
import files from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { PassThrough } from 'node:stream'
import { GuardedPool } from '../../../src/system/guarded/guarded-pool.ts'
import type { GuardedTask } from '../../../src/system/guarded/guarded-pool.ts'
import { labRuntimeKind } from '../lab/lab-runtime.ts'
import { noteChild, takeStep, watchStep } from './kill-steps.ts'
import type { Step } from './kill-steps.ts'

if (labRuntimeKind() === 'docker') await import('./docker-kill-switch.ts')
else await import('./kill-switch.ts')

/** All UIDs of pods whose volumes are watched are of this form. */
const OWN = /\/(volumed-[a-z0-9-]+)(?:$|\/([^"]*))/
const VOLUMES = /^(volumes|volume-subpaths|plugins|host|disk)(\/|$)/
/** Calls that only read. */
const READS = /^(realpath|stat|guarded (measure|read|kind)\w*)$/
const VERSION = /\.\.\d{4}(_\d\d){5}\.\d+/g

/** Undefined for what is not about the volumes of a watched pod. */
function toStep(what: string, path: string): Step | undefined {
  const [, pod, inside = ''] = OWN.exec(path) ?? []
  if (pod === undefined || READS.test(what) || (inside !== '' && !VOLUMES.test(inside))) return undefined
  return {
    pod,
    kind: `${what} ${inside.replaceAll(VERSION, '..version').replaceAll(pod, 'uid')}`.trimEnd(),
    attempt: 0,
  }
}

/** Names in a directory that is held open are found where they really are. */
function resolvePath(path: unknown): string {
  const text = String(path)
  const [held, rest] = [/^\/proc\/self\/fd\/\d+/.exec(text)?.[0], text.replace(/^\/proc\/self\/fd\/\d+/, '')]
  if (held === undefined) return text
  try {
    return `${readlinkSync(held)}${rest}`
  } catch {
    return text
  }
}

type AsyncCall = (...args: readonly unknown[]) => Promise<unknown>

/** Puts steps in place of the methods of something. */
function replace(owner: object, names: readonly string[], pathOf: (self: unknown, args: readonly unknown[]) => string) {
  const methods = owner as Record<string, AsyncCall>
  for (const name of names) {
    const original = methods[name] as AsyncCall
    methods[name] = function replaced(this: unknown, ...args) {
      const step = toStep(name, pathOf(this, args))
      const call = () => original.apply(this, [...args])
      return step === undefined ? call() : takeStep(step, call)
    }
  }
}

const firstPath = (_: unknown, [path]: readonly unknown[]) => resolvePath(path)
replace(files, ['mkdir', 'rmdir', 'unlink', 'chmod', 'chown'], firstPath)
replace(files, ['symlink', 'rename'], (_, [, path]) => resolvePath(path))
// Reading changes nothing.
const { open } = files
replace(files, ['open'], (_, [path, flags]) => (Number(flags) & constants.O_CREAT ? resolvePath(path) : ''))
{
  await using handle = await open('/dev/null')
  const pathOf = (self: unknown) => resolvePath(`/proc/self/fd/${(self as FileHandle).fd}`)
  replace(Object.getPrototypeOf(handle) as object, ['writeFile', 'chmod', 'chown'], pathOf)
}

const pool = GuardedPool.prototype as unknown as Record<'run', AsyncCall>
const original = pool.run
pool.run = function runStep(...args) {
  const { operation, request } = args[0] as GuardedTask
  const step = toStep(`guarded ${operation}`, JSON.stringify(request))
  const call = () => original.apply(this, [...args])
  return step === undefined ? call() : takeStep(step, call)
}

const spawn = childProcess.spawn as (file: string, args: readonly string[], options: object) => ChildProcess
const spawnStep = (file: string, args: readonly string[], options: object): ChildProcess => {
  const start = () => {
    const child = spawn(file, args, options)
    noteChild(child)
    return child
  }
  const step = toStep(file, args.findLast((arg) => OWN.test(arg)) ?? '')
  if (step === undefined) return start()
  let child: ChildProcess | undefined
  watchStep(step, (done) => {
    const started = start()
    child = started
    const emit = started.emit.bind(started)
    started.emit = (event: string, ...rest: never[]) => {
      if (event === 'close') done(started.exitCode === 0, () => emit(event, ...rest))
      else emit(event, ...rest)
      return true
    }
  })
  return child ?? silentChild()
}
childProcess.spawn = spawnStep as typeof childProcess.spawn

/** In place of a child that is never started. */
function silentChild(): ChildProcess {
  const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() }
  return Object.assign(new EventEmitter(), streams) as unknown as ChildProcess
}

syncBuiltinESMExports()
