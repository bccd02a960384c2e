import { ROUTES } from '@broadside/shared';
import { describe, expect, it } from 'vitest';
import { neededRoleOf } from './route-roles.js';

describe('the table of routes', () => {
  it('finds a door however its address is written', () => {
    expect(neededRoleOf('GET', ROUTES.runs)).toBe('viewer');
    expect(neededRoleOf('HEAD', `${ROUTES.runs}/`)).toBe('viewer');
    expect(neededRoleOf('GET', `${ROUTES.runs}/some-id`)).toBe('viewer');
    expect(neededRoleOf('DELETE', `${ROUTES.runs}/some-id`)).toBe('operator');
    expect(neededRoleOf('DELETE', `${ROUTES.tokens}/some-id`)).toBe('admin');
    expect(neededRoleOf('GET', `${ROUTES.openApi}/swagger-ui.css`)).toBe('nothing');
    expect(neededRoleOf('UPGRADE', ROUTES.agentSocket)).toBe('agent');
  });

  it('has nothing else', () => {
    for (const [method, path] of [
      ['PUT', ROUTES.runs],
      ['OPTIONS', ROUTES.runs],
      ['DELETE', ROUTES.runs],
      ['DELETE', `${ROUTES.runs}/`],
      ['GET', `${ROUTES.runs}/a/b`],
      ['GET', `${ROUTES.runs}//`],
      ['GET', '/api/%72uns'],
      ['GET', `http://host${ROUTES.runs}`],
      ['GET', ROUTES.agentSocket],
      ['GET', '/api'],
      ['GET', '/'],
      [undefined, ''],
    ] as const) {
      expect(neededRoleOf(method, path), `${method} ${path}`).toBeUndefined();
    }
  });
});
