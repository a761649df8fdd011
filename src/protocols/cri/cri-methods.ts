import { ContainerState, ImageServiceDefinition, RuntimeServiceDefinition } from './generated/runtime-v1.ts'

/** The generated descriptions of all calls. */
export type CriMethods = RuntimeServiceDefinition['methods'] & ImageServiceDefinition['methods']

/** The name of a CRI call as callers write it: `listContainers`. */
export type CriMethod = keyof CriMethods
/** What a call takes, complete. */
export type CriRequest<M extends CriMethod> = ReturnType<CriMethods[M]['requestType']['decode']>
/** What a call answers; for a stream, one message of it. */
export type CriResponse<M extends CriMethod> = ReturnType<CriMethods[M]['responseType']['decode']>

/** The state of a container that runs, as filters take it and replies have it. */
export const CONTAINER_RUNNING = ContainerState.CONTAINER_RUNNING

/** Both services as data. */
export const criServices = { runtime: RuntimeServiceDefinition, image: ImageServiceDefinition } as const
