import { Module } from '@nestjs/common';

/** Holds nothing: the routes of the page are added by Swagger. */
@Module({})
export class DocsModule {}
