import type { Readable, Writable } from 'node:stream'
import { errorMessage } from '../../base/telemetry/error-text.ts'
import type { Pod } from '../../model/generated/core-v1.ts'
import { parseImageName, toFullName } from '../../model/pod/parse-image-name.ts'
import { saveToFile } from './archives/save-to-file.ts'
import { realFolder } from '../../system/files/files-and-folders.ts'
import { listAgentPods } from '../node/agent/agent-client.ts'
import { checkRoot } from '../node/check-requirements.ts'
import type { StandaloneDeps } from '../node/node-deps.ts'
import { exitCodes, NodeError } from '../node/node-error.ts'
import { computeNodeLayout } from '../node/node-layout.ts'
import { readNodeRecord } from '../node/node-record.ts'
import { canConnect } from '../node/runtime/containerd.ts'
import { createContainerdArchives } from './archives/containerd-archives.ts'
import { createDockerArchives } from './archives/docker-archives.ts'
import type { ImageArchives } from './archives/image-archives.ts'
import { loadArchive } from './archives/load-archive.ts'
import { openArchive } from './archives/open-archive.ts'
import { formatDecimalBytes, formatImages } from './format-images.ts'
import { checkName, findAskers, findRuntimeImage, findTag, toSavedName } from './find-runtime-image.ts'
import { findUsers } from './runtime-image-calls.ts'
import type { RuntimeImageCalls } from './runtime-image-calls.ts'
import type { ImagesOptions } from './images-options.ts'
import { PAUSE_IMAGE } from './node-images.ts'
import { pullWithProgress } from './pull-with-progress.ts'
import type { PullDeps } from './pull-with-progress.ts'

interface ImagesDeps extends StandaloneDeps {
  readonly openRuntime: (endpoint: string, signal: AbortSignal) => Promise<RuntimeImageCalls & Disposable>
  /** Logins of the node for an image, of an agent with this root directory. */
  readonly findLogins: (agentRoot: string, image: string) => ReturnType<PullDeps['findLogins']>
  readonly input: Readable
  readonly output: Writable & { readonly isTTY?: boolean }
  /** Shows how far it is; an empty text takes that away. */
  readonly showProgress: (text: string) => void
}

interface NodeRuntime {
  readonly calls: RuntimeImageCalls
  /** Path of its socket. */
  readonly socket: string
  readonly agentRoot: string
  /** The pods that the agent knows; none while it does not run. */
  readonly listPods: (signal: AbortSignal) => Promise<readonly Pod[]>
}

/** Does what "deckhand images" is asked to with the images of a node that runs. */
export async function runImages(deps: ImagesDeps, options: ImagesOptions, signal: AbortSignal): Promise<void> {
  checkRoot(deps.userId)
  const found = await findRuntime(options.state)
  using calls = await deps.openRuntime(`unix://${found.socket}`, signal)
  const runtime = { ...found, calls }
  const { action } = options
  switch (action.kind) {
    case 'ls':
      return await listImages(deps, runtime, signal)
    case 'pull':
      return await pullImages(deps, runtime, action.names, signal)
    case 'rm':
      return await removeImages(deps, runtime, action.names, signal)
    case 'load':
      return await loadImages(deps, runtime, action, signal)
    case 'save':
      return await saveImages(deps, runtime, action, signal)
    default:
      return action satisfies never
  }
}

async function findRuntime(state: string): Promise<Omit<NodeRuntime, 'calls'>> {
  const layout = computeNodeLayout(await realFolder(state))
  const record = await readNodeRecord(layout.record)
  if (record === undefined) throw new NodeError(`There is no node in ${state}.`, exitCodes.otherState)
  const socket = record.runtime?.replace('unix://', '') ?? layout.containerd.socket
  const listPods = (signal: AbortSignal) => listAgentPods(layout, signal).catch(() => [])
  if (await canConnect(socket)) return { socket, agentRoot: layout.agentRoot, listPods }
  const advice = record.runtime === undefined ? 'start it with "deckhand up"' : 'start the runtime'
  throw new NodeError(
    `Cannot reach the images of the node: its runtime does not run at "${socket}"; ${advice}`,
    exitCodes.otherState,
  )
}

async function listImages(deps: ImagesDeps, { calls }: NodeRuntime, signal: AbortSignal): Promise<void> {
  const [{ images }, { containers }] = await Promise.all([
    calls.listImages({}, signal),
    calls.listContainers({}, signal),
  ])
  deps.say(formatImages(images, containers))
}

async function pullImages(
  deps: ImagesDeps,
  { calls, agentRoot }: NodeRuntime,
  names: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  for (const image of names.map((name) => checkName(name, parseImageName))) {
    const onProgress = (done: number | undefined, total: number | undefined) =>
      deps.showProgress(`pulling ${image}${formatProgress(done, total)}`)
    const pull = {
      calls,
      clock: deps.clock,
      onProgress,
      findLogins: (name: string) => deps.findLogins(agentRoot, name),
    }
    await pullWithProgress(pull, image, signal).finally(() => deps.showProgress(''))
    deps.say(`pulled ${image}`)
  }
}

async function removeImages(
  deps: ImagesDeps,
  runtime: NodeRuntime,
  names: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const { calls } = runtime
  // All are checked first: a mistake in the last name removes nothing.
  for (const name of names) await checkRemovable(runtime, name, signal)
  for (const name of names) {
    const image = findRuntimeImage((await calls.listImages({}, signal)).images, name)
    const tag = findTag(image, name)
    if (tag !== undefined && image.repoTags.length > 1)
      await (await openArchives(deps, runtime, signal)).untag(tag, signal)
    else await calls.removeImage({ image: { image: image.id, annotations: {} } }, signal)
    deps.say(`removed ${name}`)
  }
}

async function checkRemovable(runtime: NodeRuntime, name: string, signal: AbortSignal): Promise<void> {
  const { calls } = runtime
  const [{ images }, { containers }] = await Promise.all([
    calls.listImages({}, signal),
    calls.listContainers({}, signal),
  ])
  const image = findRuntimeImage(images, name)
  const tag = findTag(image, name)
  const isOwn = tag === undefined ? image.repoTags.includes(PAUSE_IMAGE) : tag === PAUSE_IMAGE
  if (isOwn) throw new NodeError(`Cannot remove "${name}": every pod needs it`, exitCodes.failed)
  // With another name the image stays, but not for pods that ask for it by this one.
  const stays = tag !== undefined && image.repoTags.length > 1
  const users = stays ? findAskers(tag, await runtime.listPods(signal)) : findUsers(image, containers)
  if (users.length > 0)
    throw new NodeError(`Cannot remove "${name}": in use by pod ${users.join(', ')}`, exitCodes.failed)
}

async function loadImages(
  deps: ImagesDeps,
  runtime: NodeRuntime,
  { files, name: asked }: { readonly files: readonly string[]; readonly name: string | undefined },
  signal: AbortSignal,
): Promise<void> {
  const archives = await openArchives(deps, runtime, signal)
  const name = asked === undefined ? undefined : checkName(asked, toFullName)
  for (const file of files) {
    const what = file === '-' ? 'standard input' : `"${file}"`
    const archive =
      file === '-'
        ? { stream: deps.input, sizeBytes: undefined }
        : await openArchive(deps.clock, file, signal).catch((cause: unknown) => {
            throw new NodeError(`Cannot load images from ${what}: ${errorMessage(cause)}`, exitCodes.failed, { cause })
          })
    const onProgress = (done: number, total: number | undefined) =>
      deps.showProgress(done === total ? `unpacking ${what}` : `loading ${what}${formatProgress(done, total)}`)
    const loaded = await loadArchive(archives, { ...archive, what, name, onProgress }, signal).finally(() =>
      deps.showProgress(''),
    )
    for (const image of loaded) deps.say(`loaded ${image}`)
  }
}

async function saveImages(
  deps: ImagesDeps,
  runtime: NodeRuntime,
  { names, file }: { readonly names: readonly string[]; readonly file: string | undefined },
  signal: AbortSignal,
): Promise<void> {
  if (file === undefined && deps.output.isTTY === true)
    throw new NodeError('Cannot save to a terminal: name a file with -o, or use a pipe', exitCodes.wrongArguments)
  const archives = await openArchives(deps, runtime, signal)
  const { images } = await runtime.calls.listImages({}, signal)
  const full = names.map((name) => toSavedName(findRuntimeImage(images, name), name))
  try {
    if (file === undefined) return await archives.save(full, deps.output, signal)
    const show = (doneBytes: number) => deps.showProgress(`saving ${file}${formatProgress(doneBytes, undefined)}`)
    await saveToFile(archives, { names: full, file, onProgress: show }, signal).finally(() => deps.showProgress(''))
    deps.say(`saved ${names.join(', ')} to ${file}`)
  } catch (cause) {
    signal.throwIfAborted()
    throw new NodeError(`Cannot save ${names.join(', ')}: ${errorMessage(cause)}`, exitCodes.failed, { cause })
  }
}

async function openArchives(
  deps: ImagesDeps,
  { calls, socket }: NodeRuntime,
  signal: AbortSignal,
): Promise<ImageArchives> {
  const { runtimeName } = await calls.version({ version: 'v1' }, signal)
  if (runtimeName === 'containerd') return createContainerdArchives(deps.clock, socket)
  if (runtimeName === 'docker') return createDockerArchives(socket)
  const message = `Cannot load or save images with the runtime "${runtimeName}": expected containerd or Docker; use its own tools`
  throw new NodeError(message, exitCodes.failed)
}

function formatProgress(done: number | undefined, total: number | undefined): string {
  if (done === undefined) return ''
  return total === undefined || total === 0
    ? `: ${formatDecimalBytes(done)}`
    : `: ${formatDecimalBytes(done)} of ${formatDecimalBytes(total)}`
}
