import { type DynamicModule, Module } from '@nestjs/common';
import type { Store } from './store.js';

/** The token under which the store is injected: `@Inject(STORE) store: Store`. */
export const STORE = Symbol('store');

/** Gives a store that was opened before Nest was imported to all modules. Whoever opened it closes it. */
@Module({})
export class StorageModule {
  static of(store: Store): DynamicModule {
    return {
      module: StorageModule,
      global: true,
      providers: [{ provide: STORE, useValue: store }],
      exports: [STORE],
    };
  }
}
