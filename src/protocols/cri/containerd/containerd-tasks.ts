import { CriCallError, toCriCallError } from '../cri-call-error.ts'
import { KUBERNETES_NAMESPACE } from './containerd-events.ts'
import { ContainersDefinition } from '../generated/containerd-containers.ts'
import { TasksDefinition } from '../generated/containerd-tasks.ts'
import type { CallErrorCode } from '../../grpc/grpc-call-error.ts'
import type { GrpcChannel } from '../../grpc/grpc-channel.ts'
import type { GrpcMethod } from '../../grpc/grpc-method.ts'
import { toGrpcMethod } from '../../grpc/grpc-method.ts'

const getContainer = toGrpcMethod(ContainersDefinition.fullName, ContainersDefinition.methods.get)
const getTask = toGrpcMethod(TasksDefinition.fullName, TasksDefinition.methods.get)
const killTask = toGrpcMethod(TasksDefinition.fullName, TasksDefinition.methods.kill)
const deleteTask = toGrpcMethod(TasksDefinition.fullName, TasksDefinition.methods.delete)

const SIGKILL = 9
const TIMEOUT_MS = 10_000
const HEADERS = { 'containerd-namespace': KUBERNETES_NAMESPACE }

/** Does containerd itself have a record or a task of this container or sandbox? Only a clear "not found" to both means that it has not. */
export async function hasContainerdContainer(channel: GrpcChannel, id: string, signal: AbortSignal): Promise<boolean> {
  const record = await callUnless(['NotFound'], { channel, method: getContainer, request: { id } }, signal)
  return record || (await callUnless(['NotFound'], { channel, method: getTask, request: { containerId: id } }, signal))
}

/**
 * Ends the task of a container and removes it. CRI does so itself but for the tasks that it lost, when the caller of a start went away: those
 * keep the container, its sandbox and their shim for ever.
 */
export async function deleteContainerdTask(channel: GrpcChannel, id: string, signal: AbortSignal): Promise<void> {
  const killing = { containerId: id, signal: SIGKILL, all: true }
  // A process that has ended cannot be killed; its task is still there.
  await callUnless(['NotFound', 'FailedPrecondition'], { channel, method: killTask, request: killing }, signal)
  await callUnless(['NotFound'], { channel, method: deleteTask, request: { containerId: id } }, signal)
}

interface ContainerdCall<Request> {
  readonly channel: GrpcChannel
  readonly method: GrpcMethod<Request, object>
  readonly request: Request
}

/** False when the answer is one of these codes. */
async function callUnless<Request>(
  codes: readonly CallErrorCode[],
  { channel, method, request }: ContainerdCall<Request>,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await channel.unary(method, request, { headers: HEADERS, timeoutMs: TIMEOUT_MS }, signal)
    return true
  } catch (error) {
    if (signal.aborted) throw signal.reason
    const failure: CriCallError = toCriCallError(method.path.slice(1), error)
    if (codes.includes(failure.code)) return false
    throw failure
  }
}
